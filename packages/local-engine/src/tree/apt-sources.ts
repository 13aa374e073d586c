import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A place apt fetches packages from, as the host's own configuration describes it. */
export interface AptSource {
  /** In the syntax of its file, for another suite and component `main`; everything else, keys included, is kept. */
  readonly text: (suite: string) => string;
  readonly format: 'list' | 'sources';
  /** For people. */
  readonly uri: string;
}

/** Suites of Debian's main archive; a source that has one of them is a mirror of it, if it also has `main`. */
const MAIN_SUITES = [
  'stable',
  'testing',
  'unstable',
  'sid',
  'bullseye',
  'bookworm',
  'trixie',
  'forky',
  'duke',
];

/** The mirrors of Debian's main archive that this host uses, the likeliest first. `aptFolder` is `/etc/apt`. */
export function debianMirrors(aptFolder: string): readonly AptSource[] {
  const parts = join(aptFolder, 'sources.list.d');
  const files = [join(aptFolder, 'sources.list'), ...listed(parts).map((name) => join(parts, name))];
  const found = files.flatMap((file) => {
    if (file.endsWith('.sources')) return stanzas(readIfThere(file)).flatMap(fromStanza);
    return file.endsWith('.list') ? readIfThere(file).split('\n').flatMap(fromLine) : [];
  });
  // Other archives use Debian's suite names too; a mirror of Debian is mostly under a path of that name.
  const rank = (source: AptSource) => (/\/debian\/?$/.test(source.uri) ? 0 : 1);
  return [...found].sort((a, b) => rank(a) - rank(b));
}

function fromLine(line: string): readonly AptSource[] {
  const match = /^\s*deb\s+(?:(\[[^\]]*\])\s+)?(\S+)\s+(\S+)\s+([^#]*)/.exec(line);
  if (match === null) return [];
  const [, options = '', address = '', suite = '', components = ''] = match;
  const uri = copying(address);
  if (!MAIN_SUITES.includes(suite) || !components.split(/\s+/).includes('main')) return [];
  return [{ uri, format: 'list', text: (other) => `deb ${options} ${uri} ${other} main\n` }];
}

type Stanza = ReadonlyMap<string, string>;

/** Fields by their lower-case names. A value keeps its continuation lines, as an inline key has them. */
function stanzas(text: string): readonly Stanza[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  const result: Map<string, string>[] = [new Map<string, string>()];
  let last = '';
  for (const line of lines) {
    const field = /^([A-Za-z][\w-]*):\s*(.*)$/.exec(line);
    const stanza = result.at(-1);
    if (line.trim() === '') result.push(new Map<string, string>());
    else if (field !== null) stanza?.set((last = (field[1] ?? '').toLowerCase()), field[2] ?? '');
    else stanza?.set(last, `${stanza.get(last) ?? ''}\n${line}`);
  }
  return result.filter((stanza) => stanza.size > 0);
}

function fromStanza(stanza: Stanza): readonly AptSource[] {
  const words = (name: string) => (stanza.get(name) ?? '').split(/\s+/).filter((word) => word !== '');
  if (!words('types').includes('deb') || /^(no|false|0)$/i.test(stanza.get('enabled') ?? '')) return [];
  if (!words('components').includes('main') || !words('suites').some((suite) => MAIN_SUITES.includes(suite)))
    return [];
  return words('uris')
    .map(copying)
    .map((uri) => ({
      uri,
      format: 'sources' as const,
      text: (suite) => {
        const changed = new Map([
          ...stanza,
          ['types', 'deb'],
          ['uris', uri],
          ['suites', suite],
          ['components', 'main'],
        ]);
        return [...changed].map(([name, value]) => `${name}: ${value}\n`).join('');
      },
    }));
}

/** apt reads packages of a `file:` mirror where they are; we want them where the others go. */
function copying(uri: string): string {
  return uri.replace(/^file:/, 'copy:');
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // The folder is optional.
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // Each of these files is optional.
  }
}
