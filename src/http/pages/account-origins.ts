import { clock } from '../../lib/clock.ts';

/** What a provider of OpenID Connect says of itself. */
interface Discovery {
  readonly issuer?: unknown;
  readonly token_endpoint?: unknown;
  readonly revocation_endpoint?: unknown;
}

const TIMEOUT_MS = 3_000;
const KEPT_MS = 3_600_000;
/** After a provider did not answer. */
const AGAIN_MS = 10_000;
const MAX_BYTES = 262_144;

/**
 * Origins that the console calls to sign people in: that of the provider, and those at which it says that tokens are given and taken
 * back. Asked for once an hour; while it does not answer, what it said last.
 */
export function accountOrigins(issuer: string): () => Promise<readonly string[]> {
  let known: readonly string[] = [new URL(issuer).origin];
  let goodUntil = 0;
  let asking: Promise<void> | null = null;
  const ask = async (): Promise<void> => {
    try {
      known = originsIn(await discovered(issuer), issuer);
      goodUntil = clock.time() + KEPT_MS;
    } catch {
      // People read it when they sign in: then the console says that the provider does not answer.
      goodUntil = clock.time() + AGAIN_MS;
    } finally {
      asking = null;
    }
  };
  return async () => {
    if (clock.time() >= goodUntil) await (asking ??= ask());
    return known;
  };
}

async function discovered(issuer: string): Promise<Discovery> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    ...{ redirect: 'error', headers: { accept: 'application/json' } },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok || response.body === null) throw new Error('It says nothing of itself');
  const document = JSON.parse(await textOf(response.body)) as Discovery | null;
  if (document?.issuer !== issuer) throw new Error('It is another one');
  return document;
}

/** The rest of one that is too long is not read. */
async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`It says more than ${String(MAX_BYTES)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function originsIn(
  { token_endpoint: token, revocation_endpoint: revocation }: Discovery,
  issuer: string,
): string[] {
  const { origin, protocol } = new URL(issuer);
  const others = [token, revocation].flatMap((given) => {
    if (typeof given !== 'string' || !URL.canParse(given)) return [];
    const url = new URL(given);
    // A host may have what means more in the policy of the page, such as `*`, which is every host.
    if (!/^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(url.hostname)) return [];
    // Without encryption on this machine alone, as its issuer.
    return url.protocol === 'https:' || url.protocol === protocol ? [url.origin] : [];
  });
  return [...new Set([origin, ...others])];
}
