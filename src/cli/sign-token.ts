import { SignJWT } from 'jose';
import type { Config } from '../config/config.ts';
import type { Tenant } from '../domain/stored-id.ts';
import { OPERATOR, ROLES } from '../domain/viewer.ts';
import { CommandError } from './context.ts';

export const TOKEN_ROLES = [...ROLES, OPERATOR] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

export interface TokenRequest {
  readonly sub: string;
  readonly roles: readonly TokenRole[];
  /** `null` without tenants, and for an operator. */
  readonly tenant?: Tenant | null;
  readonly expiresAt: Date;
}

/** The part of the configuration that a token depends on. */
type TokenSigning = Pick<Config['auth'], 'jwtSecret' | 'issuer' | 'audience' | 'tenantClaim'>;

/** A token that this server accepts. @throws CommandError when only a JWKS_URI is configured. */
export async function signToken(auth: TokenSigning, request: TokenRequest): Promise<string> {
  if (auth.jwtSecret === undefined)
    throw new CommandError(
      'Tokens are signed with the private keys that belong to JWKS_URI. Set JWT_SECRET to sign tokens here.',
    );
  const { tenantClaim } = auth;
  const claims = { roles: [...request.roles] };
  const own = tenantClaim === undefined || request.tenant === null ? {} : { [tenantClaim]: request.tenant };
  const token = new SignJWT({ ...own, ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(request.sub)
    .setIssuedAt()
    .setExpirationTime(request.expiresAt);
  if (auth.issuer !== undefined) token.setIssuer(auth.issuer);
  if (auth.audience !== undefined) token.setAudience(auth.audience);
  return token.sign(new TextEncoder().encode(auth.jwtSecret));
}
