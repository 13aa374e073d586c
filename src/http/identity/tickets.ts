import { createHmac } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { FanfareError } from '../../domain/errors.ts';
import { tenantOf } from '../../domain/stored-id.ts';
import { ROLES, type Identity } from '../../domain/viewer.ts';
import type { Ticket } from '../../core/shapes.ts';
import { type Header, TENANT_HEADER, unauthenticated } from './auth.ts';

/** Lets a viewer open event streams without sending headers. */
export interface Tickets {
  sign(identity: Identity): Promise<Ticket>;
  /**
   * The identity a ticket was signed for; its session ends with the original token. Rejects with UNAUTHENTICATED, and with
   * FORBIDDEN when the caller names another tenant than the ticket's.
   */
  read(ticket: string, header?: Header): Promise<Identity>;
}

/** Lifetime of a ticket, in seconds. Short, because it is part of URLs, which proxies log. */
const LIFETIME_S = 60;
const TYPE = 'fanfare-ticket';
const ALGORITHM = 'HS256';
const MAX_LENGTH = 4_096;

/** @param key shared by all processes; rejects while unavailable */
export function createTickets(key: () => Promise<Uint8Array>): Tickets {
  return {
    async sign({ userId, roles, expiresAt }) {
      const end = expiresAt === null ? null : Math.floor(expiresAt.getTime() / 1_000);
      const exp = Math.min(Math.floor(Date.now() / 1_000) + LIFETIME_S, end ?? Infinity);
      const ticket = await new SignJWT({ sub: userId, roles: [...roles], exp, end })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .sign(await key());
      return { ticket, expiresAt: new Date(exp * 1_000) };
    },
    async read(ticket, header) {
      const tenant = header?.(TENANT_HEADER);
      const identity = await verified(ticket);
      const own = tenantOf(identity.userId);
      if (tenant === undefined || own === null || tenant === own) return identity;
      throw new FanfareError('FORBIDDEN', 'The ticket is for another tenant than the one that is named');
    },
  };

  async function verified(ticket: string): Promise<Identity> {
    if (ticket.length > MAX_LENGTH) throw unauthenticated('The ticket is too long');
    const secret = await key();
    try {
      const { payload } = await jwtVerify(ticket, secret, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        requiredClaims: ['sub', 'exp'],
      });
      const { sub = '', roles, end } = payload;
      return {
        userId: sub,
        roles: new Set(ROLES.filter((role) => Array.isArray(roles) && roles.includes(role))),
        expiresAt: typeof end === 'number' ? new Date(end * 1_000) : null,
      };
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw unauthenticated('The ticket has expired', error);
      throw unauthenticated('The ticket is invalid', error);
    }
  }
}

/** A key used for tickets only, so that a ticket cannot serve as a token or the reverse. */
export function ticketKeyOf(jwtSecret: string): Uint8Array {
  return createHmac('sha256', jwtSecret).update('fanfare tickets').digest();
}
