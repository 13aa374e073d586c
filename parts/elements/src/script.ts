import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { isKnown, readOnly, sendJson, type Handler } from '../../../src/http/exchange/respond.ts';
import { once } from '../../../src/lib/once.ts';
import { hasCode } from '../../../src/lib/own-file.ts';
import { PACKAGE } from '../../../src/lib/package-info.ts';

const FILE = join(PACKAGE, 'packages', 'elements', 'dist', 'elements.js');

interface Script {
  readonly plain: Buffer;
  readonly small: Buffer;
  readonly etag: string;
}

/** Any page may load it: it says nothing of the data, and asks the API with the token of the page. */
const HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
  // The name stays with another release: for an hour without a question, then by its tag.
  'cache-control': 'public, max-age=3600, stale-while-revalidate=86400',
  vary: 'accept-encoding',
};

/** Serves the custom elements from their built file, read and compressed once on first use. */
export function elementsScript(file = FILE): Handler {
  const loaded = once(() => load(file));
  return readOnly(async (req, res) => {
    const script = await loaded();
    if (script === null) {
      sendJson(res, 404, { error: 'The elements are not built: npm run build' });
      return;
    }
    const { plain, small, etag } = script;
    const headers = { ...HEADERS, etag };
    if (isKnown(req.headers['if-none-match'], etag)) {
      res.writeHead(304, headers).end();
      return;
    }
    const isSmall = takesGzip(req.headers['accept-encoding']);
    const body = isSmall ? small : plain;
    const encoding = isSmall ? { 'content-encoding': 'gzip' } : {};
    res.writeHead(200, { ...headers, ...encoding, 'content-length': body.length }).end(body);
  });
}

/** Null if it is not built. */
async function load(file: string): Promise<Script | null> {
  try {
    const plain = await readFile(file);
    const digest = createHash('sha256').update(plain).digest('base64url');
    // Of both encodings.
    return { plain, small: await promisify(gzip)(plain, { level: 9 }), etag: `W/"${digest}"` };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function takesGzip(accepted: string | string[] | undefined = ''): boolean {
  return /(?:^|[\s,])gzip(?!\s*;\s*q\s*=\s*0(?:\.0*)?\s*(?:,|$))/i.test(String(accepted));
}
