import { z } from 'zod';
import { emailSchema } from '../../../src/core/contact.ts';
import { validate } from '../../../src/core/validate.ts';
import { badInput } from '../../../src/domain/errors.ts';
import { isSigned } from '../../../src/domain/signature.ts';
import { apiError } from '../../../src/graphql/errors.ts';
import { enter, sendError } from '../../../src/http/admission.ts';
import { type Handler, send, sendJson } from '../../../src/http/exchange/respond.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import { clock } from '../../../src/lib/clock.ts';
import { readBody } from './body.ts';
import { addressDigest, mailboxesRepository } from './store.ts';

const MAX_BODY_BYTES = 64 * 1_024;
const MAX_ERROR_LENGTH = 200;

const errorSchema = z
  .string()
  .max(MAX_ERROR_LENGTH, { error: `Must be at most ${String(MAX_ERROR_LENGTH)} characters`, abort: true })
  .regex(/^[^\p{Cc}]*$/u, 'Must be one line');
const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('mail.bounced'),
    data: z.object({ email: emailSchema, isPermanent: z.boolean(), error: errorSchema.nullish() }),
  }),
  z.object({
    type: z.literal('mail.complained'),
    data: z.object({ email: emailSchema, error: errorSchema.nullish() }),
  }),
]);

/** Takes bounces and complaints, signed as webhooks are. Repeating one changes nothing. */
export function mailEvents(http: HttpContext, keys: readonly Uint8Array[]): Handler {
  return async (req, res) => {
    try {
      if (req.method !== 'POST') {
        sendJson(res, 405, { error: 'Method not allowed' }, { allow: 'POST' });
        return;
      }
      const { caller, headers } = await enter(http, req);
      const body = await readBody(http, req, { caller, maxBytes: MAX_BODY_BYTES });
      const header = (name: string): string => req.headers[name]?.toString() ?? '';
      if (!isSigned(keys, { header, body, now: clock.now() }))
        throw apiError('UNAUTHENTICATED', 'The signature is missing, of another secret, or too old');
      const { type, data } = validate(eventSchema, parsed(body));
      if (type === 'mail.complained' || data.isPermanent)
        await mailboxesRepository(http.core.collections).turnOff([addressDigest(data.email)], {
          ...{ reason: type === 'mail.complained' ? 'COMPLAINED' : 'BOUNCED', at: clock.now() },
          error: data.error ?? null,
        });
      send(res, 204, '', headers);
    } catch (error) {
      sendError(http, res, error);
    }
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw badInput('The body is not JSON');
  }
}
