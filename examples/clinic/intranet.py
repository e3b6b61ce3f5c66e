"""A page saved from the clinic's intranet, with the menus and the footer that such a page carries."""

from __future__ import annotations

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Vaccine fridge: alarm and cold chain - Harbour Road Clinic intranet</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/intranet.css">
<script>window.menuOpen = false; function toggleMenu() { window.menuOpen = !window.menuOpen; }</script>
<style>nav li { display: inline; } .hint { color: #666; }</style>
</head>
<body>
<header>
<a class="logo" href="/">Harbour Road Clinic</a>
<form action="/search"><input name="q" placeholder="Search the intranet"><button>Search</button></form>
<nav><ul>
<li><a href="/news">News</a></li>
<li><a href="/rota">Rotas</a></li>
<li><a href="/forms">Forms</a></li>
<li><a href="/procedures">Procedures</a></li>
<li><a href="/phone">Telephone list</a></li>
<li><a href="/lunch">Lunch menu</a></li>
</ul></nav>
</header>
<aside>
<h2>Most read this week</h2>
<ul>
<li><a href="/news/flu">Flu sessions: book your place</a></li>
<li><a href="/news/parking">Resurfacing of the upper car park</a></li>
<li><a href="/news/choir">The staff choir is looking for tenors</a></li>
</ul>
</aside>
<main>
<article>
<h1>Vaccine fridge: alarm and cold chain</h1>
<p class="hint">Procedure PH-12 · owner: Odile Brannigan, pharmacy · last reviewed 3 August 2026</p>

<p>The vaccine fridge VF-2 stands in treatment room 2. Vaccines are kept between 2 and 8 °C, without
exception. Frozen vaccine is useless even when it has thawed, and nobody can see it.</p>

<h2>Daily checks</h2>
<ul>
<li>Read the lowest and the highest temperature at 08:00 and at 18:00, and reset the thermometer
each time.</li>
<li>Write both values on form CC-4, which hangs on the door.</li>
<li>Keep a hand's breadth of air between the boxes and the back wall. Nothing is stored in the door.</li>
</ul>

<h2>When the alarm sounds</h2>
<p>The alarm sounds when the air in the fridge has been above 7.5 °C for 10 minutes, or below 2.5 °C
for 5 minutes.</p>
<ol>
<li>Keep the door closed. Silence the horn with the key that hangs on the left side of the fridge.</li>
<li>Check the plug and the circuit breaker 14 in the corridor.</li>
<li>If the temperature still rises after 15 minutes, move the vaccines to the reserve fridge VF-1 in
the pharmacy. Use the blue cool box and the conditioned packs.</li>
<li>Ring the pharmacist, Odile Brannigan, on extension 241. At night and on Sundays ring the nurse
on call.</li>
</ol>

<h2>Vaccines that were too warm</h2>
<p>Do not throw anything away. Put the boxes into quarantine with an orange label, in the fridge,
and note how long and how warm. The pharmacist asks the maker. These are the limits for our three
most used vaccines:</p>
<table>
<tr><th>Vaccine</th><th>Highest temperature</th><th>For at most</th></tr>
<tr><td>Influenza</td><td>25 °C</td><td>72 hours</td></tr>
<tr><td>Tetanus and diphtheria</td><td>25 °C</td><td>96 hours</td></tr>
<tr><td>Measles, mumps and rubella</td><td>8 °C</td><td>must be discarded above</td></tr>
</table>

<h2>Maintenance</h2>
<p>The batteries of the data logger are changed every January. The door seal is cleaned on the first
Friday of the month. The thermometer is calibrated by an outside company each May; certificate
number of this year: K-5583.</p>
</article>
</main>
<footer>
<p>Harbour Road Clinic, 3 Harbour Road, Skerrin Bay. For internal use only.</p>
<p><a href="/imprint">Imprint</a> · <a href="/privacy">Privacy</a> · <a
href="/accessibility">Accessibility</a> ·
<a href="/feedback">Tell us what you think of this page</a></p>
<p>We use one cookie, to remember that you closed the banner.</p>
</footer>
</body>
</html>
"""
