from tests.test_hard1 import *
import tests.test_hard1 as h
KINDS = h.KINDS = {}
INTL = "Revenue | 345,670 | 310,220 | 290,110\nCost of sales | (201,110) | (190,330) | (180,220)\nOperating profit | 60,110 | 52,330 | 48,870\nProfit for the year | 41,020 | 36,330 | 33,110"
CUR = [("(In millions of Swedish kronor)", "SEK", 1e6), ("(in SEK million)", "SEK", 1e6), ("SEK m", "SEK", 1e6), ("(RMB in thousands)", "CNY", 1e3), ("(in thousands of RMB)", "CNY", 1e3), ("RMB’000", "CNY", 1e3), ("(£ in millions)", "GBP", 1e6), ("£m", "GBP", 1e6), ("€ million", "EUR", 1e6), ("(in millions of €)", "EUR", 1e6), ("(Rs. in millions)", "INR", 1e6), ("(Rupees in millions)", "INR", 1e6), ("(In millions of Indian rupees)", "INR", 1e6),
 ("HK$’000", "HKD", 1e3), ("(in thousands of Hong Kong dollars)", "HKD", 1e3), ("(Expressed in thousands of U.S. dollars)", "USD", 1e3), ("US$ million", "USD", 1e6), ("(in millions of Argentine pesos)", "ARS", 1e6), ("(Millions of Chilean pesos)", "CLP", 1e6), ("ThCh$", "CLP", 1e3), ("(in billions of Colombian pesos)", "COP", 1e9), ("(in thousands of South African rand)", "ZAR", 1e3), ("R million", "ZAR", 1e6), ("(Australian dollars in thousands)", "AUD", 1e3), ("A$’000", "AUD", 1e3), ("(NIS in thousands)", "ILS", 1e3), ("(in thousands of New Israeli Shekels)", "ILS", 1e3), ("(Yen in millions)", "JPY", 1e6), ("(Millions of yen)", "JPY", 1e6), ("(In millions of Korean Won, except per share amounts)", "KRW", 1e6), ("(in millions of Danish kroner)", "DKK", 1e6), ("DKK million", "DKK", 1e6), ("CHF million", "CHF", 1e6), ("(in millions of Philippine pesos)", "PHP", 1e6), ("(In Thousands of New Taiwan Dollars)", "TWD", 1e3), ("NT$ million", "TWD", 1e6), ("(in billions of Indonesian Rupiah)", "IDR", 1e9), ("(In thousands of Turkish Lira)", "TRY", 1e3), ("(in millions of Russian Rubles)", "RUB", 1e6), ("(thousands of Peruvian soles)", "PEN", 1e3), ("(S$ in thousands)", "SGD", 1e3), ("(MYR in thousands)", "MYR", 1e3), ("(Canadian $ in millions)", "CAD", 1e6), ("(C$ millions)", "CAD", 1e6), ("(in thousands)", "XXX", 1e3), ("(in millions, except share data)", "XXX", 1e6),("(Amounts expressed in millions of Mexican pesos (Ps.))", "MXN", 1e6), ("(In thousands of reais - R$)", "BRL", 1e3), ("(millions of euros, unless otherwise stated)", "EUR", 1e6)]
styles = ["wide", "plain", "pdf"]
for i, (t, c, s) in enumerate(CUR):
    add("currency", [Sheet(("CONSOLIDATED STATEMENTS OF PROFIT OR LOSS", t), HEADS3, INTL)], [("What was @'s revenue in 2024?", (345670*s, c)), ("What was @'s profit for the year in 2023?", (36330*s, c))], form="20-F", style=styles[i % 3], suffix="Ltd")
# two currency columns, varied
two = [
 (("For the year ended December 31,*4", "2022 | 2023 | 2024*2", "RMB | RMB | RMB | US$"), "Revenues | 8,110 | 8,904 | 9,730 | 1,333\nOperating income | 702 | 811 | 905 | 124\nNet income | 540 | 633 | 714 | 98"),
 (("2022 | 2023 | 2024 | 2024", "RMB’000 | RMB’000 | RMB’000 | US$’000"), "Revenues | 8,110 | 8,904 | 9,730 | 1,333\nOperating income | 702 | 811 | 905 | 124\nNet income | 540 | 633 | 714 | 98"),
 (("Year ended December 31, 2024*2 | Year ended December 31, 2023 | Year ended December 31, 2022", "US$ | RMB | RMB | RMB"), "Revenues | 1,333 | 9,730 | 8,904 | 8,110\nOperating income | 124 | 905 | 811 | 702\nNet income | 98 | 714 | 633 | 540"),
 (("2024 | 2024 | 2023 | 2022", "U.S. dollars (Note 3) | NIS | NIS | NIS"), "Revenues | 1,333 | 9,730 | 8,904 | 8,110\nOperating income | 124 | 905 | 811 | 702\nNet income | 98 | 714 | 633 | 540"),
]
for i, (heads, rows) in enumerate(two):
    for st in ("wide", "plain", "pdf"):
        unit = "ILS" if i == 3 else "CNY"; sc = 1e3 if i == 1 else 1e6
        add("two currencies", [Sheet(("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In millions)" if i != 1 else "(Amounts in thousands)"), heads, rows)],
            [("What was @'s net income in 2024?", (714*sc, unit)), ("What was @'s net income in 2023?", (633*sc, unit)), ("What were @'s revenues in 2024 in US dollars?", (1333*sc, "USD"))], form="20-F", style=st, suffix="Holdings")
# restated
rest = [
 (("Year Ended December 31, 2023*3 | Year Ended December 31, 2022*3", "As Reported | Adjustment | As Restated | As Reported | Adjustment | As Restated"), "Revenues | 210 | (8) | 202 | 190 | (5) | 185\nOperating income | 33 | (7) | 26 | 30 | (4) | 26\nNet income | 22 | (5) | 17 | 20 | (3) | 17.5"),
 (("2023*3", "Previously Reported | Effect of Change | As Adjusted"), "Revenues | 210 | (8) | 202\nOperating income | 33 | (7) | 26\nNet income | 22 | (5) | 17"),
 (("2023 (As Restated) | 2023 (As Previously Reported)",), "Revenues | 202 | 210\nOperating income | 26 | 33\nNet income | 17 | 22"),
 (("December 31, 2023 (Restated) | December 31, 2023 (As originally reported)",), "Revenues | 202 | 210\nOperating income | 26 | 33\nNet income | 17 | 22"),
]
for heads, rows in rest:
    for st in ("wide", "plain"):
        add("restated", [Sheet((T_INC, "(In millions)"), heads, rows)], [("What was @'s restated net income in 2023?", 17e6), ("What were @'s revenues in 2023 as previously reported?", 210e6), ("What was @'s operating income in 2023, as restated?", 26e6)], style=st, covers="For the fiscal year ended December 31, 2023")
