import { SignJWT, type JWTPayload } from 'jose';
import { TEST_SECRET } from './app.ts';

/** A token with just these claims, signed with the secret of the tests or another. */
export function signTestToken(
  claims: JWTPayload,
  options: { alg?: string; secret?: string } = {},
): Promise<string> {
  const key = new TextEncoder().encode(options.secret ?? TEST_SECRET);
  return new SignJWT(claims).setProtectedHeader({ alg: options.alg ?? 'HS256' }).sign(key);
}
