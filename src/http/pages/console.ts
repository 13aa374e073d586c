import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { extname, join, sep } from 'node:path';
import { requestPath, readOnly, type Handler, send, sendJson } from '../exchange/respond.ts';
import type { HttpContext } from '../http-context.ts';
import { accountOrigins } from './account-origins.ts';
import { isOwnVisitor } from '../identity/own-visitor.ts';
import { ownCommand, PACKAGE } from '../../lib/package-info.ts';
import { hasCode } from '../../lib/own-file.ts';
import { once } from '../../lib/once.ts';

export const CONSOLE_PATH = '/console';

const FILES = join(PACKAGE, 'console', 'dist', sep);
/** Placeholder for the values that are filled in, read by the page's script. */
const placeOf = (name: string): string => `<meta name="fanfare-${name}" content="" />`;
/** The page's own value is right in a checkout. */
const COMMAND = '<meta name="fanfare-command" content="npx fanfare" />';
const PAGES: Readonly<Record<string, string>> = { '': 'index.html', demo: 'demo.html' };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** No inline scripts, no other sources, no frames. @param others origins that its scripts may call */
const policy = (...others: readonly string[]): string =>
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  `connect-src ${["'self'", ...others].join(' ')}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const HEADERS = {
  'content-security-policy': policy(),
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Serves the console from its built files, read once on first use. */
export function createConsole(context: HttpContext): Handler {
  const { pageToken, demoPeople, consoleFolder = FILES, accounts } = context;
  const originsOf = accounts ? accountOrigins(accounts.issuer) : () => Promise.resolve([]);
  const loaded = once(() => load(consoleFolder));
  return readOnly(async (req, res) => {
    const files = await loaded();
    const name = requestPath(req).slice(CONSOLE_PATH.length).replace(/^\//, '');
    const page = PAGES[name];
    const path = page ?? name;
    const file = files.get(path);
    // Pages are served under their own paths only.
    if (file === undefined || (page === undefined && path.endsWith('.html'))) {
      const isBuilt = files.has('index.html');
      sendJson(res, 404, { error: isBuilt ? 'Not found' : 'The console is not built: npm run build' });
      return;
    }
    const type = TYPES[extname(path)] ?? 'application/octet-stream';
    if (page === undefined) {
      // File names change with their contents.
      const cached = { 'cache-control': 'public, max-age=31536000, immutable' };
      send(res, 200, file, { ...HEADERS, ...cached, 'content-type': type });
      return;
    }
    // Only there people sign in.
    const origins = name === '' ? await originsOf() : [];
    const host = hostOf(context, origins);
    const isOwn = await isOwnVisitor(headersOf(req), req.socket);
    const named = filled(file.replace(COMMAND, COMMAND.replace('npx fanfare', ownCommand())), 'host', host);
    const shown = isOwn ? await filledIn(named, pageToken, demoPeople) : named;
    const policies = { 'content-security-policy': policy(...origins) };
    send(res, 200, shown, { ...HEADERS, ...policies, 'cache-control': 'no-store', 'content-type': type });
  });
}

/** What the page has to know of the host, for everybody. */
function hostOf(
  { accounts, auth: { issuer, audience, rolesClaim = 'roles' } }: HttpContext,
  origins: readonly string[],
): string {
  const expected = accounts ? { accounts: { ...accounts, origins, expected: { issuer, audience } } } : {};
  return base64({ rolesClaim, ...expected });
}

function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Neither base64 nor a token needs escaping. */
function filled(page: string, name: string, content: string): string {
  const place = placeOf(name);
  return page.replace(place, place.replace('""', `"${content}"`));
}

/** Adds the values for the user who started this process. */
async function filledIn(
  file: string,
  token: HttpContext['pageToken'],
  people: HttpContext['demoPeople'],
): Promise<string> {
  const page = filled(file, 'token', token ?? '');
  if (people === undefined || !page.includes(placeOf('demo'))) return page;
  return filled(page, 'demo', base64(await people()));
}

export function isConsolePath(path: string): boolean {
  return path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`);
}

/** Text files by path within the folder. Empty if nothing is built. */
async function load(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
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
