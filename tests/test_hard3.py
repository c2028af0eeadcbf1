from tests.test_hard1 import *
import tests.test_hard1 as h
KINDS = h.KINDS = {}
# successors
succ = [
 (("Successor | Predecessor*2", "Period from | Period from | ", "June 12, 2024 | January 1, 2024 | Year Ended", "through | through | December 31,", "December 31, 2024 | June 11, 2024 | 2023"), "w"),
 (("Successor Company | Predecessor Company*2", "For the period July 1, 2024 to December 31, 2024 | For the period January 1, 2024 to June 30, 2024 | For the year ended December 31, 2023"), ""),
 (("(Successor)<br/>Nine months ended December 31, 2024 | (Predecessor)<br/>Three months ended March 31, 2024 | (Predecessor)<br/>Year ended December 31, 2023",), ""),
 (("Nine Months Ended December 31, | Three Months Ended March 31, | Year Ended December 31,", "2024 | 2024 | 2023", "Successor | Predecessor | Predecessor"), ""),
 (("Post-emergence | Pre-emergence*2", "Nine Months Ended December 31, 2024 | Three Months Ended March 31, 2024 | Year Ended December 31, 2023"), ""),
 (("Inception (May 6, 2024) through December 31, 2024",), "inc"),
 (("Period from May 6, 2024 (Inception) to December 31, 2024",), "inc"),
]
for heads, k in succ:
    for st in ("wide", "plain", "pdf"):
        if st == "pdf" and k != "w": continue
        if k == "inc":
            add("inception", [Sheet((T_INC, "(In thousands)"), heads, "Revenues | $ 40,110\nCost of revenues | 22,020\nOperating income | 5,100\nIncome tax expense | 1,010\nNet income | $ 3,012\nDiluted earnings per share | $ 0.31")], [("What were @'s revenues in 2024?", None), ("What was @'s net income in 2024?", None), ("What were @'s revenues for the period from May 6, 2024 to December 31, 2024?", 40110e3)], style=st)
        else:
            add("successor", [Sheet((T_INC, "(In thousands)"), heads, "Revenues | $ 402,110 | $ 190,020 | $ 610,040\nCost of revenues | 220,110 | 110,020 | 330,120\nOperating income | 51,000 | (12,200) | 66,100\nNet income (loss) | $ 30,120 | $ (404,010) | $ 31,870")],
             [("What were @'s revenues in 2024?", None), ("What was @'s net loss in 2024?", None), ("What was @'s gross margin in 2024?", None), ("What was @'s operating income in 2023?", 66100e3), ("By how much did @'s revenues change from 2023 to 2024?", None), ("What was the net income of @ (Predecessor) in 2023?", 31870e3)], style=st)
# transition
T="TRANSITION REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934"
trans = [
 ("10-KT", "For the transition period from April 1, 2024 to December 31, 2024", ("Nine Months Ended December 31, 2024 | Year Ended March 31, 2024 | Year Ended March 31, 2023",), "December 31, 2024", "fiscal 2024"),
 ("10-K", "For the transition period from April 1, 2024 to December 31, 2024", ("Transition Period Ended December 31, | Fiscal Years Ended March 31,*2", "2024 | 2024 | 2023"), "December 31, 2024", "fiscal 2024"),
 ("10-KT", "For the transition period from April 1, 2024 through December 31, 2024", ("Transition Period | Fiscal Year | Fiscal Year", "2024 | 2024 | 2023"), "December 31, 2024", "fiscal 2024"),
 ("10-KT", "For the transition period from April 1, 2024 to December 31, 2024", ("April 1, 2024 to<br/>December 31, 2024 | April 1, 2023 to<br/>March 31, 2024 | April 1, 2022 to<br/>March 31, 2023",), "December 31, 2024", "fiscal 2024"),
 ("10-KT", "For the transition period from April 1, 2024 to December 31, 2024", ("39 Weeks Ended December 31, 2024 | 52 Weeks Ended March 31, 2024 | 52 Weeks Ended March 31, 2023",), "December 31, 2024", "fiscal 2024"),
]
for form, cov, heads, end, fy in trans:
    for st in ("wide", "plain"):
        add("transition", [Sheet((T_INC, "(In thousands)"), heads, "Revenues | $ 90,110 | $ 118,400 | $ 104,900\nCost of revenues | 50,110 | 64,020 | 58,120\nGross profit | 40,000 | 54,380 | 46,780\nOperating income | 11,000 | 16,200 | 13,100\nNet income | $ 7,120 | $ 10,010 | $ 8,870")],
         [("What were @'s revenues for the transition period ended December 31, 2024?", 90110e3), ("What was @'s net income in the nine months ended December 31, 2024?", 7120e3), ("What was @'s net income in the nine-month transition period?", 7120e3), ("What were @'s revenues in the fiscal year ended March 31, 2024?", 118400e3), ("What was @'s operating income in fiscal 2023?", 13100e3), ("What was @'s gross profit for the transition period from April 1, 2024 to December 31, 2024?", 40000e3), ("What was @'s net income in 2025?", None)], form=form, covers=cov, title=T, style=st)
# later 10-K which prints the transition period beside
for st in ("wide", "pdf"):
    add("transition later", [Sheet((T_INC, "(In thousands)"), ("Year Ended | Nine Months Ended | Year Ended", "December 31, 2025 | December 31, 2024 | March 31, 2024"), "Revenues | $ 130,220 | $ 90,110 | $ 118,400\nCost of revenues | 70,110 | 50,110 | 64,020\nOperating income | 18,000 | 11,000 | 16,200\nNet income | $ 12,120 | $ 7,120 | $ 10,010")],
     [("What were @'s revenues in 2025?", 130220e3), ("What was @'s net income for the nine months ended December 31, 2024?", 7120e3), ("What was @'s net income in 2024?", None), ("What were @'s revenues in the transition period ended December 31, 2024?", 90110e3)], covers="For the fiscal year ended December 31, 2025", style=st)
