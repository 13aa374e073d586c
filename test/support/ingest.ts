import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';

/** A line of the answer: of a line of the body, or why there are no more. */
export interface IngestLine {
  readonly line?: number;
  readonly id?: string;
  readonly error?: string;
  readonly code?: string;
}

export interface IngestAnswer {
  readonly status: number;
  readonly type: string | undefined;
  readonly lines: readonly IngestLine[];
}

interface IngestOptions {
  readonly token: string | null;
  readonly query?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function beginIngest(
  url: string,
  { token, query = '', method = 'POST', headers }: IngestOptions,
): ClientRequest {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  return request(`${url}/ingest${query}`, { method, headers: { ...authorization, ...headers } });
}

export async function answerOf(req: ClientRequest): Promise<IngestAnswer> {
  const [response] = (await once(req, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as IngestLine);
  return { status: response.statusCode ?? 0, type: response.headers['content-type'], lines };
}

export async function ingest(
  url: string,
  body: string | Buffer,
  options: IngestOptions,
): Promise<IngestAnswer> {
  const req = beginIngest(url, options);
  const answer = answerOf(req);
  req.end(body);
  return answer;
}

/** A line of an action. */
export function actionLine(key: string | null, more: object = {}): string {
  return JSON.stringify({
    ...(key === null ? {} : { idempotencyKey: key }),
    actorId: 'bob',
    descriptor: { custom: { verb: 'visited', objectType: 'site', objectId: key ?? 'site' } },
    ...more,
  });
}

export function numbered(count: number, prefix = 'k'): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${String(n)}`);
}
