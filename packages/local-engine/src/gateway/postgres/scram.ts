import { createHash, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import { hmac, readAttributes } from '../auth/scram-attributes.ts';

/** The client's side of SCRAM-SHA-256 (RFC 5802, 7677) without channel binding. */
export interface ScramExchange {
  readonly firstMessage: Buffer;
  /** The client's proof for the server's challenge. Throws when the challenge is not for this exchange. */
  prove(challenge: Buffer): Buffer;
  /** Throws when the server does not know the password either. */
  verify(outcome: Buffer): void;
}

const noChannelBinding = 'n,,';

export function startScram(password: string): ScramExchange {
  const nonce = randomBytes(18).toString('base64');
  const first = `n=,r=${nonce}`;
  let expected: Buffer = Buffer.alloc(0);
  return {
    firstMessage: Buffer.from(noChannelBinding + first),
    prove(challenge) {
      const attributes = readAttributes(challenge);
      const serverNonce = attributes.get('r') ?? '';
      const iterations = Number(attributes.get('i'));
      if (!serverNonce.startsWith(nonce) || !(iterations > 0))
        throw new Error('PostgreSQL sent an invalid challenge');
      const salt = Buffer.from(attributes.get('s') ?? '', 'base64');
      const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
      const clientKey = hmac(salted, 'Client Key');
      const withoutProof = `c=${Buffer.from(noChannelBinding).toString('base64')},r=${serverNonce}`;
      const transcript = `${first},${challenge.toString()},${withoutProof}`;
      const signature = hmac(createHash('sha256').update(clientKey).digest(), transcript);
      const proof = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0));
      expected = hmac(hmac(salted, 'Server Key'), transcript);
      return Buffer.from(`${withoutProof},p=${Buffer.from(proof).toString('base64')}`);
    },
    verify(outcome) {
      const signature = Buffer.from(readAttributes(outcome).get('v') ?? '', 'base64');
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
        throw new Error('PostgreSQL could not prove that it knows the password');
      }
    },
  };
}
