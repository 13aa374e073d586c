import { createHmac, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createFanfare } from '@fanfare/server';

const PUBLISH_EVERY_MS = 5_000;
const OFFICE = { id: 'office', type: 'place', label: 'The office' };

/** A server for the page, with a simulated user who posts. */
export interface ExampleServer {
  readonly url: string;
  /** A token as a backend signs it for its signed-in user. */
  readonly token: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Starts it with its own databases, whose data is beside this file. */
export async function startServer(): Promise<ExampleServer> {
  const secret = randomBytes(32).toString('hex');
  const settings = {
    ...{ JWT_SECRET: secret, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn' },
    DATA_DIR: fileURLToPath(new URL('.fanfare', import.meta.url)),
  };
  const fanfare = createFanfare({}, { api: true, settings });
  await fanfare.start();
  if (fanfare.url === null) throw new Error('It does not listen');
  await fanfare.upsertMembers([{ memberId: 'john', name: 'John Doe' }]);
  await fanfare.follow([{ followerId: 'demo', refId: 'john' }]);
  let count = 0;
  const post = async (): Promise<void> => {
    count += 1;
    const postTitle = `Lunch ${String(count)}`;
    const posted = { postId: `lunch-${randomBytes(4).toString('hex')}`, postTitle };
    // Now and then the reader is mentioned, which the bell says.
    const mentions = count % 3 === 0 ? ['demo'] : [];
    await fanfare.publish({ actorId: 'john', refs: [OFFICE], mentions, descriptor: { posted } });
  };
  await post();
  await fanfare.delivered();
  const timer = setInterval(() => {
    post().catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
    });
  }, PUBLISH_EVERY_MS);
  return {
    url: fanfare.url,
    token: () => Promise.resolve(signToken('demo', secret)),
    close: async () => {
      clearInterval(timer);
      await fanfare.close();
    },
  };
}

/** A JSON Web Token, valid for an hour. */
export function signToken(sub: string, secret: string): string {
  const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const signed = `${base64({ alg: 'HS256', typ: 'JWT' })}.${base64({ sub, exp })}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
