import { z } from 'zod';
import { MAX_KEY_BYTES, MIN_KEY_BYTES, signingKey } from '../domain/signature.ts';

const MOST_SECRETS = 5;
/** Of an address, in characters. */
export const MAX_URL_LENGTH = 2_048;

/** An HTTP URL without credentials: it is stored and shown. */
const target = z
  .string()
  .max(MAX_URL_LENGTH)
  .refine(
    (text) => {
      if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
      const { username, password, hash } = new URL(text);
      return username === '' && password === '' && hash === '';
    },
    { error: 'a URL that begins with https:// or http://, without a password and without #' },
  );

const secret = z.string().transform((text, context): Uint8Array => {
  const key = signingKey(text);
  if (key !== null) return key;
  const bytes = `${String(MIN_KEY_BYTES)} to ${String(MAX_KEY_BYTES)} bytes`;
  context.addIssue({ code: 'custom', message: `whsec_ and ${bytes} in Base64` });
  return z.NEVER;
});

const SECRETS = z.array(secret).min(1).max(MOST_SECRETS);
export const isAllowed = ({
  url,
  allowPrivateAddress,
}: {
  readonly url: string;
  readonly allowPrivateAddress: boolean;
}) => allowPrivateAddress || url.startsWith('https://');
export const NOT_ALLOWED = { error: 'https://, or "allowPrivateAddress": true', path: ['url'] };

/** The fields of such a URL, for what has others beside them. */
export const SIGNED = z.strictObject({
  url: target,
  secrets: SECRETS,
  allowPrivateAddress: z.boolean().default(false),
});

export const signed = ({ url, secrets, allowPrivateAddress }: z.output<typeof SIGNED>) => ({
  ...{ url: new URL(url).href, keys: secrets, allowPrivateAddress },
});

/** A URL that signed requests go to. Faults name the place but never the value, which may be a secret. */
export const signedTarget = SIGNED.refine(isAllowed, NOT_ALLOWED).transform(signed);

/** The same with a time limit, in milliseconds. */
export const timedTarget = (timeoutMs: z.ZodType<number>) =>
  SIGNED.extend({ timeoutMs })
    .refine(isAllowed, NOT_ALLOWED)
    .transform(({ timeoutMs: ms, ...of }) => ({ ...signed(of), timeoutMs: ms }));
