// Prepares a release: the next version by the changes in .changeset, in all manifests and wherever else it stands, and the section of
// the changelog, from their texts. Prints the version. Changesets' own program does not count the package at the root, and takes
// every release of a peer for a breaking one.
//   npm run version
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const FOLDER = '.changeset';
/** From the least to the most. */
const HEADINGS = { patch: 'Fixed', minor: 'Added and changed', major: 'Breaking' };
const KINDS = Object.keys(HEADINGS);
const UNRELEASED = /^## (\S+) – unreleased$/m;
const OURS = '@fanfare/';

/** @param {string} text of a file in .changeset @returns {{ kind: string, text: string }} @throws if it is of another form */
export function changeIn(text) {
  const [, head, body] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? [];
  const kinds = Object.values(parse(head ?? '') ?? {});
  if (kinds.length === 0 || kinds.some((kind) => !KINDS.includes(kind)) || !body?.trim())
    throw new Error(
      `Not a change: expected packages with ${KINDS.join(', ')}, and what changes, got ${text}`,
    );
  return { kind: highest(kinds), text: body.trim() };
}

const highest = (kinds) => KINDS.findLast((kind) => kinds.includes(kind));

/** Before 1.0.0 the middle number says what breaks. */
function next(version, kind) {
  const [major, minor, patch] = version.split('.').map(Number);
  const step = major > 0 ? kind : { major: 'minor', minor: 'patch', patch: 'patch' }[kind];
  if (step === 'major') return `${major + 1}.0.0`;
  return step === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/**
 * @param {Record<string, string>} files by their paths: package.json and all others that name the version
 * @param {{ kind: string, text: string }[]} changes
 * @param {string} date
 * @returns {{ version: string, files: Record<string, string> }}
 */
export function release(files, changes, date) {
  const old = JSON.parse(files['package.json']).version;
  // The first release has the version that it was developed under.
  const [unreleased, first] = UNRELEASED.exec(files['CHANGELOG.md']) ?? [];
  if (first === undefined && changes.length === 0) throw new Error(`Nothing has changed since ${old}`);
  const version = first ?? next(old, highest(changes.map(({ kind }) => kind)));
  const changed = Object.entries(files).map(([path, text]) => {
    if (path === 'CHANGELOG.md') return [path, noted(text, { version, changes, date, unreleased })];
    if (path.endsWith('.json')) return [path, raised(text, old, version)];
    return [path, text.replaceAll(old, version)];
  });
  return { version, files: Object.fromEntries(changed) };
}

function noted(text, { version, changes, date, unreleased }) {
  const parts = KINDS.toReversed().flatMap((kind) => {
    const texts = changes.filter((change) => change.kind === kind).map((change) => change.text);
    if (texts.length === 0) return [];
    return [`### ${HEADINGS[kind]}`, texts.map((one) => `- ${one.replaceAll('\n', '\n  ')}`).join('\n')];
  });
  const section = [`## ${version} – ${date}`, ...parts].join('\n\n');
  if (unreleased !== undefined) return text.replace(unreleased, () => section);
  return text.replace(/^## /m, (before) => `${section}\n\n${before}`);
}

/** In a manifest or in the lock file: its own version, and the versions of the packages of this project that it needs. */
function raised(text, old, version) {
  const manifest = JSON.parse(text);
  const parts = manifest.packages ?? {};
  // In the lock file all that is not below node_modules is of this project.
  for (const one of [
    manifest,
    ...Object.keys(parts).flatMap((path) => (/node_modules/.test(path) ? [] : parts[path])),
  ]) {
    if (one.version === old) one.version = version;
    for (const needed of [one.dependencies, one.devDependencies, one.peerDependencies])
      for (const name of Object.keys(needed ?? {}))
        if (name.startsWith(OURS) && needed[name] === old) needed[name] = version;
  }
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** All that names the version of this project. */
export const FILES = [
  ...[
    'package.json',
    'package-lock.json',
    'CHANGELOG.md',
    'README.md',
    'deploy/kubernetes/kustomization.yaml',
  ],
  ...[
    'bench',
    ...['apollo', 'client', 'elements', 'local-engine', 'react', 'urql'].map((name) => `packages/${name}`),
  ].map((path) => `${path}/package.json`),
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  const found = readdirSync(FOLDER).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const changes = found.map((name) => changeIn(readFileSync(`${FOLDER}/${name}`, 'utf8')));
  const files = Object.fromEntries(FILES.map((path) => [path, readFileSync(path, 'utf8')]));
  const { version, files: changed } = release(files, changes, new Date().toISOString().slice(0, 10));
  for (const [path, text] of Object.entries(changed)) writeFileSync(path, text);
  for (const name of found) rmSync(`${FOLDER}/${name}`);
  console.log(version);
}
