import { pushRegistrationsRepository } from './store.ts';
import { ECDH } from 'node:crypto';
import { z } from 'zod';
import { FanfareError } from '../../../src/domain/errors.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { clock } from '../../../src/lib/clock.ts';
import type { Core } from '../../../src/core/core.ts';
import { validate } from '../../../src/core/validate.ts';

declare module '../../../src/core/core.ts' {
  interface Core {
    /** By which browsers know the server; absent: no push messages are sent. */
    readonly pushPublicKey?: string | undefined;
  }
}

/** Upper bound on the length of an endpoint, in characters. */
const MAX_ENDPOINT_LENGTH = 1_024;
const AUTH_BYTES = 16;

const endpointSchema = z
  .string()
  .max(MAX_ENDPOINT_LENGTH, {
    error: `Must have at most ${String(MAX_ENDPOINT_LENGTH)} characters`,
    abort: true,
  })
  .refine(isPushService, 'Must be an https URL with a public host name, and without spaces and a user name')
  // One form for each browser: what stands behind # is not sent.
  .transform((text) => new URL(text).href.replace(/#.*$/, ''));

/** A URL is parsed without the line breaks in it, so they would be accepted. */
const PRINTABLE = /^[\x21-\x7e]+$/;
/** Names with a dot that do not end in digits, as addresses do. Where a name leads is checked again when it is connected to. */
const PUBLIC_NAME = /^(?=[^.]+\.)[a-z0-9.-]*[a-z][a-z0-9-]*\.?$/;
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa)\.?$/;

function isPushService(text: string): boolean {
  if (!PRINTABLE.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, hostname } = new URL(text);
  if (protocol !== 'https:' || username !== '' || password !== '') return false;
  return PUBLIC_NAME.test(hostname) && !LOCAL_NAME.test(hostname);
}

const BASE64URL = /^[\w-]+=*$/;
const pushSchema = z.object({
  endpoint: endpointSchema,
  p256dh: z.string().max(256).refine(isPublicKey, 'Must be a public key of the curve P-256 in base64url'),
  auth: z
    .string()
    .max(256)
    .refine(
      (text) => BASE64URL.test(text) && Buffer.from(text, 'base64url').length === AUTH_BYTES,
      `Must be ${String(AUTH_BYTES)} bytes in base64url`,
    ),
});

/** Nothing can be encrypted with a point that is not on the curve. */
function isPublicKey(text: string): boolean {
  if (!BASE64URL.test(text)) return false;
  try {
    const key = ECDH.convertKey(text, 'prime256v1', 'base64url', 'base64url', 'uncompressed');
    return key === text.replace(/=+$/, '');
  } catch {
    return false;
  }
}

/**
 * Registers a browser for push messages. One that another member has used is theirs no more.
 * @throws FanfareError BAD_USER_INPUT; CONFLICT without keys for push messages
 */
export async function registerPush(
  core: Core,
  session: ReaderSession,
  given: { readonly endpoint: string; readonly p256dh: string; readonly auth: string },
): Promise<void> {
  if (core.pushPublicKey === undefined)
    throw new FanfareError('CONFLICT', 'The server sends no push messages: PUSH_VAPID_PUBLIC_KEY is not set');
  const registration = validate(pushSchema, given);
  await pushRegistrationsRepository(core.collections).register(
    session.identity.userId,
    registration,
    clock.now(),
  );
}

/** Forgets a browser. `false`: it is not registered for the reader. */
export function unregisterPush(core: Core, session: ReaderSession, endpoint: string): Promise<boolean> {
  const { data: known = endpoint } = endpointSchema.safeParse(endpoint);
  return pushRegistrationsRepository(core.collections).unregister(session.identity.userId, known);
}
