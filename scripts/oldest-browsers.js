/** The oldest browsers, which package.json names once: what is built for them follows from that. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import browserslist from 'browserslist';
import { browserslistToTargets, transform } from 'lightningcss';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
/** Vite's names, where they are others. */
const NAMES = { ios_saf: 'ios' };

/** Such as chrome 110. */
export function oldestBrowsers() {
  return browserslist(undefined, { path: PROJECT }).map((one) => {
    const [name, versions] = one.split(' ');
    return { name, version: versions.split('-')[0] };
  });
}

/** As Vite takes it. */
export function buildTarget() {
  return oldestBrowsers().map(({ name, version }) => `${NAMES[name] ?? name}${version.replace(/\.0$/, '')}`);
}

/** A stylesheet with what the oldest browsers need to take it. */
export async function styleFor(file) {
  const targets = browserslistToTargets(browserslist(undefined, { path: PROJECT }));
  return transform({ filename: file, code: await readFile(file), targets }).code.toString();
}
