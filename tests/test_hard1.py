from tests.made_filings import Made, Sheet, sheet_html, fact
from itertools import count
NAMES = iter(("""Abbotskerswell Adlestrop Affpuddle Aldwincle Almeley Alphamstone Altarnun Ampleforth Ankerwycke Appledram Ardingly Arlecdon Arreton Ashmansworth Askerswell Aspatria Athelhampton Awliscombe Axminster Aylburton
Badminton Balsham Bampton Bardsey Barkham Batcombe Beaworthy Bebington Beckermet Bedhampton Benenden Bentworth Berrynarbor Bickleigh Biddestone Bilsington Binfield Bishopstrow Blisworth Bodinnick Bolnhurst Boscastle Bothenhampton Bourton Brabourne Bradworthy Bramdean Bratton Brendon Brightling Brockweir Broxbourne Buckerell Bulphan Burwash Buxted Cadgwith Calbourne Canewdon Cardeston Catsfield Chacombe Chadlington Chapmanslade Charmouth Chedzoy Chelvey Chiddingly Chilmark Chittlehampton Cholderton Clandown Clapham Cleobury Clovelly Cockfosters Coldwaltham Compton Coombes Corfe Cotleigh Cranleigh Crewkerne Cropredy Cuddesdon Culbone Curbridge Dalwood Danehill Daventry Denbury Devoran Didmarton Dinton Doddiscombsleigh Downderry Drayton Dulcote Dunchideock Durweston Eastling Ebernoe Edburton Egloshayle Elkstone Elsfield Emberton Ermington Etchingham Evenlode Ewelme Exbourne""".split())*4)
KINDN = iter(["Tools","Foods","Systems","Energy","Mining","Media","Cable","Rail"]*40)
KINDS = {}
HEADS3 = ("Year Ended December 31,*3", "2024 | 2023 | 2022")
T_INC = "CONSOLIDATED STATEMENTS OF OPERATIONS"
def add(kind, pages, asked, suffix="Inc", **kw):
    n = next(NAMES); name = f"{n} {next(KINDN)} {suffix}".strip()
    short = f"{n} {name.split()[1]}"
    KINDS.setdefault(kind, []).append(Made(name, pages, [(q.replace("@", short), g) for q, g in asked], **kw))
def inc(rows, heads=HEADS3, title=(T_INC, "(In thousands, except per share data)"), after=(), **k):
    return Sheet(title, heads, rows, after, **k)
BASE = "Revenues | $ 120,450 | $ 110,320 | $ 99,870\nCost of revenues | 70,200 | 65,100 | 60,020\n{x}Operating income | 30,130 | 26,205 | 23,100\nNet income | $ 21,000 | $ 18,000 | $ 16,110\nDiluted earnings per share | $ 2.10 | $ 1.80 | $ 1.61"
def base(x=""): return BASE.replace("{x}", x + "\n" if x else "")

# dashes
for style in ("wide", "plain", "pdf", "typed"):
    for dash in ("—", "-", "--", "$ —", "– –") if style != "typed" else ("--", "-", "---"):
        add("dash "+style, [inc(base(f"Asset impairment charges | {dash} | 5,225 | {dash}"))],
            [("What were @'s asset impairment charges in 2024?", 0.0), ("What were @'s asset impairment charges in 2023?", 5225e3)], style=style,
            covers="For the fiscal year ended December 31, 2024")
for style in ("wide", "pdf"):
    for w, in (("",), ("NM",), ("N/M",), ("n.m.",), ("*",), ("(a)",), ("N.A.",), ("not meaningful",)):
        add("words "+style, [inc(base(f"Loss on debt extinguishment | {w} | 5,225 | 1,220"), after=("* Less than $50. (a) Not separately reported.",))],
            [("What was @'s loss on debt extinguishment in 2024?", None), ("What was @'s loss on debt extinguishment in 2022?", 1220e3)], style=style)
# footnote marks
for style, marks in (("wide", ("<sup>(1)</sup>", "<sup>a</sup>", "<sup>1</sup>", "(1)", " (a)", "¹", "*", "**", "†", "<sup>(1)(2)</sup>", "<sup>1,2</sup>")),
                     ("plain", ("<sup>(1)</sup>", "<sup>a</sup>", "<sup>1</sup>", "(1)", " (a)", "¹", "*", "(1)(2)", "<sup>[1]</sup>", "[1]")),
                     ("pdf", ("<sup>(1)</sup>", "<sup>a</sup>", "<sup>1</sup>", "(1)", " (a)", "¹", "*", "<sup>1,2</sup>"))):
    for m in marks:
        add("mark "+style, [inc(f"Net sales{m} | $ 120,450{m} | $ 110,320 | $ 99,870\nCost of sales | 70,200 | 65,100 | 60,020\nOperating income | (30,130){m} | 26,205{m} | 23,100\nNet income | $ (21,000) | $ 18,000 | $ 16,110\nDiluted earnings per share | $ (2.10){m} | $ 1.80{m} | $ 1.61", after=("(1) Includes a gain.",))],
            [("What were @'s net sales in 2024?", 120450e3), ("What was @'s operating income in 2024?", -30130e3), ("What was @'s operating income in 2023?", 26205e3), ("What was @'s diluted EPS in 2023?", 1.80)], style=style)
