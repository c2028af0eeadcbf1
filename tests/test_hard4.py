from tests.test_hard1 import *
import tests.test_hard1 as h
from tests.made_filings import document, page_html, submission, typed_sheet, typed, header
KINDS = h.KINDS = {}
# note columns
NR = "Cash and cash equivalents | 4 | 15,022 | 13,310\nTrade receivables | 5 | 9,120 | 8,870\nInventories | 6 | 8,114 | 7,905\nTotal current assets | | 33,010 | 31,220\nProperty, plant and equipment | 7, 8 | 82,075 | 79,330\nIntangible assets | 9(a) | 5,123 | 5,330\nTotal assets | | 131,020 | 126,110\nTrade payables | 12 | 11,020 | 10,870\nTotal equity | 15 | 70,110 | 66,330"
for heads in (("Note | December 31, 2024 | December 31, 2023",), ("Notes | 2024 | 2023",), ("Note No. | As of December 31, 2024 | As of December 31, 2023",), ("Ref. | 31 December 2024 | 31 December 2023",), ("Note ref | 2024<br/>US$000 | 2023<br/>US$000",), ("See note | Dec. 31, 2024 | Dec. 31, 2023",), (" | | December 31,*2", " | Notes | 2024 | 2023"), (" | | 2024 | 2023",)):
    for st in ("wide", "plain", "pdf", "typed"):
        if st == "pdf" and "<br/>" in heads[0] or (st=="typed" and "<br/>" in heads[0]): continue
        add("note column "+st, [Sheet(("CONSOLIDATED STATEMENTS OF FINANCIAL POSITION", "(in thousands of U.S. dollars)"), heads, NR)],
            [("What was @'s property, plant and equipment at December 31, 2024?", 82075e3), ("What were @'s intangible assets at December 31, 2024?", 5123e3), ("What were @'s inventories at December 31, 2023?", 7905e3), ("What was @'s total equity at December 31, 2024?", 70110e3), ("What were @'s trade payables at December 31, 2024?", 11020e3)], form="20-F", style=st)
# typed header styles
ROWS = "Net sales | $ 148,913 | $ 120,114 | $ 98,311\nCost of sales | 101,202 | 80,909 | 66,020\nGross profit | 47,711 | 39,205 | 32,291\nResearch and development | 12,004 | 10,101 | 8,007\nIncome (loss) from operations | (3,402) | 9,120 | 7,114\nNet income (loss) | $ (2,411) | $ 6,004 | $ 4,902\nNet income (loss) per share | $ (.21) | $ .52 | $ .44"
HS = [("1996 | 1995 | 1994",), ("Years Ended December 31,*3", "1996 | 1995 | 1994"), ("DECEMBER 28, | DECEMBER 30, | DECEMBER 31,", "1996 | 1995 | 1994"), ("Year Ended | Year Ended | Year Ended", "Dec. 31, 1996 | Dec. 31, 1995 | Dec. 31, 1994"), ("Fiscal 1996 | Fiscal 1995 | Fiscal 1994",), ("12/31/96 | 12/31/95 | 12/31/94",), ("For the Years Ended December 31,*3", "1996 | 1995 | 1994"), ("FISCAL YEARS ENDED*3", "1996 | 1995 | 1994")]
for i, hs in enumerate(HS):
    for tags in (True, False):
        for dots in (True, False):
            if (i + tags + dots) % 2: continue
            add("typed", [typed_sheet(Sheet(("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands, except per share amounts)"), hs, ROWS), tags=tags, dots=dots)],
                [("What were @'s net sales in 1996?", 148913e3), ("What was @'s net loss in 1996?", -2411e3), ("What was @'s gross profit in 1995?", 39205e3), ("What was @'s research and development expense in 1994?", 8007e3), ("What was @'s net income per share in 1995?", .52)], style="typed", covers="For the fiscal year ended December 31, 1996" if i != 2 else "For the fiscal year ended December 28, 1996")
# exhibits
INCH = lambda: sheet_html(inc(base()))
DOC = lambda: "<html><body><p>CONSOLIDATED FINANCIAL STATEMENTS</p>" + INCH() + "</body></html>"
SEE = "<p>Item 8. The information is incorporated by reference to the Annual Report to Shareholders, filed as an exhibit.</p>"
for kind in ("EX-13", "EX-13.1", "EX-13.0", "EX-99", "EX-99.1", "EX-99.2", "EX-15", "EX-13.A"):
    add("exhibit 10-K", [SEE], [("What were @'s revenues in 2024?", 120450e3), ("What was @'s net income in 2023?", 18000e3)], others=[("EX-10.1", "<html><body><p>Lease of 2,000 square feet.</p></body></html>"), (kind, DOC())])
for kind in ("EX-99.1", "EX-99", "EX-99.2"):
    add("exhibit 6-K", ["<p>Exhibit 99.1 Results</p>"], [("What were @'s revenues in 2024?", 120450e3)], form="6-K", covers="For the month of February 2025", title="REPORT OF FOREIGN PRIVATE ISSUER PURSUANT TO RULE 13a-16 OR 15d-16 UNDER THE SECURITIES EXCHANGE ACT OF 1934", others=[(kind, DOC())])
# separators
for lines, u in ((("(in thousands of euros)",), 1e3), (("€ thousand",), 1e3), (("(EUR’000)",), 1e3)):
    for sep in (".", " ", "\u00a0", "\u202f", "'", "’"):
        for st in ("wide", "plain", "pdf"):
            if st == "pdf" and sep in "\u202f": continue
            f = lambda n: f"{n:,}".replace(",", sep)
            r = "\n".join(f"{l} | {f(a) if a > 0 else '(' + f(-a) + ')'} | {f(b) if b > 0 else '(' + f(-b) + ')'}" for l, a, b in (("Revenue", 1204310, 1133020), ("Cost of sales", -702400, -655110), ("Gross profit", 501910, 477910), ("Operating profit", 212050, 190330), ("Finance costs", -31020, -28870), ("Income tax expense", -44110, -39020), ("Profit for the year", 137400, 123900)))
            add("separator "+repr(sep), [Sheet(("CONSOLIDATED INCOME STATEMENT", *lines), ("Year ended December 31,*2", "2024 | 2023"), r)], [("What was @'s revenue in 2024?", (1204310e3, "EUR")), ("What was @'s profit for the year in 2023?", 123900e3), ("What was @'s gross profit in 2024?", 501910e3)], form="20-F", style=st)
