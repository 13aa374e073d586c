import { createHash } from 'node:crypto';
import { reportOf, type ReportTable } from './report.ts';
import type { Plan } from './shape.ts';

/** The look of the console: these are colours of packages/react/tokens.css. */
const STYLE = `
:root {
  color-scheme: light dark;
  --fanfare-back: light-dark(#f7f7f8, #0d0e11);
  --fanfare-card: light-dark(#ffffff, #15171b);
  --fanfare-text: light-dark(#1b1c20, #eaebee);
  --fanfare-quiet: light-dark(#5d6169, #9da3ad);
  --fanfare-line: light-dark(#e4e5e9, #2a2d34);
  --fanfare-accent: light-dark(#4247cf, #a8acff);
  --fanfare-soft: light-dark(#eeeffd, #23253f);
  --fanfare-font: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
  --fanfare-corner-card: 0.625rem;
}
body { margin: 0; background: var(--fanfare-back); color: var(--fanfare-text); font: 0.875rem/1.45 var(--fanfare-font); }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; display: grid; gap: 1rem; grid-template-columns: repeat(2, minmax(0, 1fr)); }
header, .wide { grid-column: 1 / -1; }
h1 { margin: 0; font-size: 1.5rem; font-weight: 650; text-wrap: balance; }
h2 { margin: 0 0 0.75rem; font-size: 1rem; font-weight: 650; }
h2::first-letter { text-transform: uppercase; }
p { margin: 0.25rem 0 0; color: var(--fanfare-quiet); max-width: 46rem; }
section { background: var(--fanfare-card); border: 1px solid var(--fanfare-line); border-radius: var(--fanfare-corner-card); padding: 1rem; break-inside: avoid; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.375rem 0.5rem; text-align: end; font-weight: 400; border-top: 1px solid var(--fanfare-line); white-space: nowrap; }
thead > tr > * { border: 0; color: var(--fanfare-quiet); font-size: 0.75rem; }
th:first-child { text-align: start; padding-inline-start: 0; white-space: normal; }
tr > :last-child { padding-inline-end: 0; width: 30%; min-width: 6rem; text-align: start; }
tbody tr:first-child > * { border: 0; }
thead + tbody tr:first-child > * { border-top: 1px solid var(--fanfare-line); }
tr.planned > :last-child { padding-inline-end: 0.5rem; }
tr.planned { background: var(--fanfare-soft); font-weight: 650; }
tr.planned th { font-weight: 650; padding-inline-start: 0.5rem; }
svg { display: block; width: 100%; height: 0.5rem; }
rect { fill: var(--fanfare-accent); }
rect.rest { fill: var(--fanfare-line); }
ul { margin: 0; padding-inline-start: 1.25rem; }
li + li { margin-top: 0.375rem; }
footer { grid-column: 1 / -1; color: var(--fanfare-quiet); font-size: 0.75rem; }
@media (max-width: 60rem) { main { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 40rem) {
  th, td { white-space: normal; }
  tr > :last-child { min-width: 4rem; }
  .wide th, .wide td { font-size: 0.75rem; padding-inline: 0.25rem; }
  .wide tr > :last-child { display: none; }
}
@media print { :root { color-scheme: light; } body { background: none; } main { padding: 0; max-width: none; } * { print-color-adjust: exact; } }
`;

/** A page that needs nothing else: no script, no request. */
export function planPage(plan: Plan): string {
  const { title, tables, instead, advice, notes } = reportOf(plan);
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
  const [who = '', ...how] = title.split(', feed model ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plan: ${text(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>${text(who)}</h1>
<p>Feed model ${text(how.join())}</p>
</header>
${tables.map(section).join('\n')}
${instead === null ? '' : `<section class="wide"><p>${text(instead)}</p></section>`}
<section class="wide">
<h2>To change</h2>
${advice.length === 0 ? '<p>nothing</p>' : `<ul>${advice.map((line) => `<li>${text(line)}</li>`).join('')}</ul>`}
</section>
<footer>${text(notes.join(' '))}</footer>
</main>
</body>
</html>
`;
}

/** The first two stand side by side. Bars are for the eye: the figures beside them say the same. */
function section({ title, columns = [], drawn = '', rows }: ReportTable, index: number): string {
  const largest = Math.max(...rows.map(({ size = 0 }) => size));
  const body = rows.map(({ cells: [what, ...figures], size = 0, isPlanned = false }) => {
    const width = largest > 0 ? (100 * size) / largest : 0;
    const bar = `<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="8"/><rect width="${width.toFixed(2)}" height="8"/></svg>`;
    return `<tr${isPlanned ? ' class="planned"' : ''}><th scope="row">${text(what)}</th>${figures.map((figure) => `<td>${text(figure)}</td>`).join('')}<td>${bar}</td></tr>`;
  });
  const head = [...columns, drawn].map((column) => `<th scope="col">${text(column)}</th>`);
  const [name = ''] = title.split(': ');
  return `<section${index > 1 ? ' class="wide"' : ''}>
<h2>${text(name)}</h2>
<table>
${columns.length > 0 ? `<thead><tr><td></td>${head.join('')}</tr></thead>` : ''}
<tbody>
${body.join('\n')}
</tbody>
</table>
</section>`;
}

function text(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
