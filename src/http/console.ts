import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pathOf, readOnly, type Handler } from './handler.ts';
import { isOwnVisitor } from './own-visitor.ts';
import { send, sendJson } from './respond.ts';

export const CONSOLE_PATH = '/console';

/** As the package has it, from src/http and from dist/http alike. */
const FILES = fileURLToPath(new URL('../../console/dist/', import.meta.url));
/** Stands in the page where its script looks for a token. */
const TOKEN_PLACE = '<meta name="fanfare-token" content="" />';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Nothing inline, nothing from elsewhere, in no frame. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

export interface ConsoleOptions {
  /** Filled in for who started this process and opens the page on the same machine; absent: for nobody. */
  readonly token?: string | undefined;
  /** Where the built files are; default: in the package. */
  readonly folder?: string | undefined;
}

/** The console, from its built files: read once, when somebody first asks. */
export function createConsole({ token, folder = FILES }: ConsoleOptions): Handler {
  let loaded: Promise<ReadonlyMap<string, string>> | undefined;
  return readOnly(async (req, res) => {
    const files = await (loaded ??= load(folder));
    const name = pathOf(req).slice(CONSOLE_PATH.length).replace(/^\//, '');
    const file = files.get(name === '' ? 'index.html' : name);
    if (file === undefined) {
      const isBuilt = files.has('index.html');
      sendJson(res, 404, { error: isBuilt ? 'Not found' : 'The console is not built: npm run build' });
      return;
    }
    const type = TYPES[extname(name === '' ? 'index.html' : name)] ?? 'application/octet-stream';
    if (name !== '') {
      // Their names change with what is in them.
      const cached = { 'cache-control': 'public, max-age=31536000, immutable' };
      send(res, 200, file, { ...HEADERS, ...cached, 'content-type': type });
      return;
    }
    const isOwn = token !== undefined && (await isOwnVisitor(headersOf(req), callerOf(req)));
    // The alphabet of tokens needs no escapes.
    const page = isOwn ? file.replace(TOKEN_PLACE, TOKEN_PLACE.replace('""', `"${token}"`)) : file;
    send(res, 200, page, { ...HEADERS, 'cache-control': 'no-store', 'content-type': type });
  });
}

export function isConsolePath(path: string): boolean {
  return path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`);
}

/** By their paths below the folder. All are text. Empty where nothing is built. */
async function load(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  const files = names.filter((entry) => entry.isFile());
  return new Map(
    await Promise.all(
      files.map(async ({ parentPath, name }) => {
        const path = `${parentPath.replace(/\/$/, '')}/${name}`;
        const key = path.slice(folder.replace(/\/$/, '').length + 1);
        return [key, await readFile(path, 'utf8')] as const;
      }),
    ),
  );
}

function headersOf({ headers }: IncomingMessage): Headers {
  const given = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) given.set(name, Array.isArray(value) ? value.join(', ') : value);
  return given;
}

function callerOf({ socket }: IncomingMessage): Parameters<typeof isOwnVisitor>[1] {
  const { remoteAddress, remotePort, localPort } = socket;
  return { address: remoteAddress ?? '', ports: { remote: remotePort, local: localPort } };
}
