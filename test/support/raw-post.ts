import { request } from 'node:http';

export interface PostAnswer {
  readonly status: number;
  readonly errors: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
  readonly data: unknown;
}

interface Body extends Partial<Omit<PostAnswer, 'status'>> {
  /** Of answers that are not GraphQL's. */
  readonly error?: string;
}

/** Sends a request. An answer that comes before the body has been sent counts, as it does for patient clients. */
export function rawRequest(
  url: string,
  options: {
    readonly method?: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  },
): Promise<PostAnswer> {
  const { method = 'POST', headers, body } = options;
  return new Promise((resolve, reject) => {
    const req = request(
      url,
      {
        method,
        headers: { 'content-type': 'application/json', ...headers },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          // A stream does not end on its own; what it begins with is its answer.
          if (response.headers['content-type']?.startsWith('text/event-stream') === true) response.destroy();
        });
        response.on('close', () => {
          const parsed = (text.startsWith('{') ? JSON.parse(text) : {}) as Body;
          const { errors = [], data = null } = parsed;
          resolve({ status: response.statusCode ?? 0, errors, data });
          req.destroy();
        });
      },
    );
    // Once there is an answer, this comes too late.
    req.on('error', reject);
    req.end(body);
  });
}
