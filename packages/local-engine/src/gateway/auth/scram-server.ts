import { createHash, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import { hmac, readAttributes } from './scram-attributes.ts';

/** What the server keeps of a user: enough to check a proof, not enough to make one. */
export interface Verifier {
  readonly user: string;
  readonly salt: Buffer;
  readonly iterations: number;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

/** The server's side of one SCRAM-SHA-256 exchange (RFC 5802, 7677) without channel binding. */
export interface ServerExchange {
  readonly challenge: Buffer;
  /** Checks the client's proof and gives the server's own. Throws ScramRefusal. */
  finish(clientFinal: Buffer): Buffer;
}

/** The client does not know the password, or its message does not belong to this exchange. */
export class ScramRefusal extends Error {
  override readonly name = 'ScramRefusal';
}

/** The least that drivers accept. More would only slow down guesses, and nobody guesses a random password. */
const ITERATIONS = 4_096;
const KEY_BYTES = 32;

export function makeVerifier(user: string, password: string): Verifier {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, KEY_BYTES, 'sha256');
  return {
    user,
    salt,
    iterations: ITERATIONS,
    storedKey: sha256(hmac(salted, 'Client Key')),
    serverKey: hmac(salted, 'Server Key'),
  };
}

/** Answers a client's first message. Throws ScramRefusal when it is none, or wants channel binding. */
export function startServerScram(verifier: Verifier, clientFirst: Buffer): ServerExchange {
  const match = /^(?<header>[ny],,)(?<bare>n=.*,r=.+)$/s.exec(clientFirst.toString());
  const { header = '', bare = '' } = match?.groups ?? {};
  const { user, salt, iterations, storedKey, serverKey } = verifier;
  const first = readAttributes(bare);
  const clientNonce = first.get('r') ?? '';
  if (clientNonce === '') throw new ScramRefusal('This is not the first message of SCRAM-SHA-256');
  const nonce = clientNonce + randomBytes(18).toString('base64');
  const challenge = `r=${nonce},s=${salt.toString('base64')},i=${String(iterations)}`;
  return {
    challenge: Buffer.from(challenge),
    finish(clientFinal) {
      const text = clientFinal.toString();
      const final = readAttributes(text);
      const withoutProof = text.slice(0, text.lastIndexOf(',p='));
      const transcript = `${bare},${challenge},${withoutProof}`;
      const proof = Buffer.from(final.get('p') ?? '', 'base64');
      const signature = hmac(storedKey, transcript);
      const clientKey = Buffer.from(signature.map((byte, index) => byte ^ (proof[index] ?? 0)));
      const isProven = proof.length === KEY_BYTES && timingSafeEqual(sha256(clientKey), storedKey);
      const isThisExchange =
        final.get('r') === nonce && final.get('c') === Buffer.from(header).toString('base64');
      // A wrong user is refused here, not earlier, so that the answers do not tell users from passwords.
      if (!isProven || !isThisExchange || first.get('n') !== user)
        throw new ScramRefusal('Wrong user or password');
      return Buffer.from(`v=${hmac(serverKey, transcript).toString('base64')}`);
    },
  };
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
