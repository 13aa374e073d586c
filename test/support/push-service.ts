import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Keys of a server. */
export const PUSH_ENV = {
  PUSH_VAPID_PUBLIC_KEY:
    'BI_NNdxiC6VEvGcydqzP54nAPABBQGhrNbFOZNFNgL8BKc8Wir_5O6kaCrSJTKoUN2Ci5aS52DxyTVLbtwot3yA',
  PUSH_VAPID_PRIVATE_KEY: 'vHWr6gUVjQtEHfmvERPaY0CkA_UNWBpUopzqQ-25_Vw',
  PUSH_SUBJECT: 'mailto:ops@app.example',
} as const;

/** A browser: it has the keys of its registration, and reads what was encrypted for it. */
export class Browser {
  readonly endpoint: string;
  readonly #keys: ECDH = createECDH('prime256v1');
  readonly #auth = randomBytes(16);

  constructor(endpoint: string) {
    this.endpoint = endpoint;
    this.#keys.generateKeys();
  }

  get registration(): { readonly endpoint: string; readonly p256dh: string; readonly auth: string } {
    return {
      endpoint: this.endpoint,
      p256dh: this.#keys.getPublicKey('base64url'),
      auth: this.#auth.toString('base64url'),
    };
  }

  /** Throws unless it was encrypted for this browser. */
  read(body: Buffer): unknown {
    // RFC 8291, and one record of RFC 8188.
    const salt = body.subarray(0, 16);
    const end = 21 + body.readUInt8(20);
    const sender = body.subarray(21, end);
    const derived = (key: Uint8Array, with_: Uint8Array, info: string | Uint8Array, bytes: number): Buffer =>
      Buffer.from(hkdfSync('sha256', key, with_, info, bytes));
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.#keys.getPublicKey(), sender]);
    const key = derived(this.#keys.computeSecret(sender), this.#auth, info, 32);
    const nonce = derived(key, salt, 'Content-Encoding: nonce\0', 12);
    const cipher = createDecipheriv(
      'aes-128-gcm',
      derived(key, salt, 'Content-Encoding: aes128gcm\0', 16),
      nonce,
    );
    cipher.setAuthTag(body.subarray(-16));
    const padded = Buffer.concat([cipher.update(body.subarray(end, -16)), cipher.final()]);
    return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString());
  }
}

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A push service on a port of this machine. */
export interface PushService extends AsyncDisposable {
  readonly url: string;
  browser(name: string): Browser;
  /** All requests for a browser, whatever was answered. */
  received(browser: Browser): readonly Received[];
  /** What is answered for a browser from now on: that status, or nothing. Default: 201. */
  answer(
    browser: Browser,
    answer: number | 'nothing' | 'broken off',
    headers?: Readonly<Record<string, string>>,
  ): void;
}

export async function startPushService(): Promise<PushService> {
  const received = new Map<string, Received[]>();
  const answers = new Map<string, (response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const all = received.get(path) ?? [];
      received.set(path, [...all, { headers: request.headers, body: Buffer.concat(chunks) }]);
      const answer = answers.get(path) ?? ((to: ServerResponse) => to.writeHead(201).end());
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const pathOf = ({ endpoint }: Browser): string => new URL(endpoint).pathname;
  return {
    url,
    browser: (name) => new Browser(`${url}/${name}`),
    received: (browser) => received.get(pathOf(browser)) ?? [],
    answer(browser, answer, headers = {}) {
      answers.set(pathOf(browser), (response) => {
        if (answer === 'broken off') response.destroy();
        else if (answer !== 'nothing') response.writeHead(answer, headers).end();
      });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
