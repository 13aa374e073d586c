import type { IncomingMessage } from 'node:http';
import { apiError } from '../../../src/graphql/errors.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import type { Caller } from '../../../src/http/identity/auth.ts';

/** Reads a small body. Rejects with BAD_USER_INPUT (413) for a larger one, which is not read to its end. */
export async function readBody(
  http: Pick<HttpContext, 'intake'>,
  req: IncomingMessage,
  { caller, maxBytes }: { readonly caller: Caller; readonly maxBytes: number },
): Promise<string> {
  using underWay = http.intake.open(caller);
  const refusal = underWay.resize(maxBytes);
  if (refusal !== null) throw refusal;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes)
      throw apiError('BAD_USER_INPUT', `The body is larger than ${String(maxBytes)} bytes`, {
        ...{ status: 413, headers: { connection: 'close' } },
      });
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}
