import { createHash } from 'node:crypto';
import { BSON, type Document } from 'mongodb';
import { expect } from 'vitest';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { Role } from '../../src/domain/viewer.ts';
import type { RefusalWorld } from './refusal-world.ts';

/** A request that must be refused. */
export interface BadRequest {
  readonly name: string;
  /** Default BAD_USER_INPUT. */
  readonly code?: ErrorCode;
  /** What the message must say, so that the request is not refused for another fault than the one meant. */
  readonly says: RegExp;
  readonly query: string;
  /** A string is sent as it is: JSON that no object of ours could be turned into. */
  readonly variables?: object | string | ((world: RefusalWorld) => object) | undefined;
  /** Default: the member ann, as a user. */
  readonly as?: { readonly sub: string; readonly roles?: readonly Role[] } | null;
  /** Only entries of a list are refused, the rest of the answer is there. */
  readonly isPartial?: boolean;
}

export interface RawRequest {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly errors: readonly {
    readonly message: string;
    readonly extensions?: Readonly<Record<string, unknown>>;
  }[];
}

export const ANN = { sub: 'ann' } as const;
export const SERVICE = { sub: 'importer', roles: ['service'] } as const;
export const ADMIN = { sub: 'root', roles: ['admin'] } as const;

/** Longest message: it says what is wrong with the input and does not send it back. */
const MAX_MESSAGE_LENGTH = 1_000;

/** Signs of what is inside: traces, drivers and engines, operators, paths, names of code and collections. */
const INTERNALS = [
  /\n\s+at /,
  /\bstack\b/i,
  /mongo|bson|postgres|documentdb|pg_|redis/i,
  /\bObjectId\b/,
  /E11000|SQLSTATE|errorLabels|writeErrors/,
  /newsfeedItems|engagement\.|fanOut\.|leaseUntil|pullRefIds/,
  /node_modules|\/src\/|\/root\/|\/home\/|\/tmp\/|file:\/\/|\.[cm]?[jt]s\b/,
  /TypeError|RangeError|ZodError|FanfareError|Cannot read prop|is not a function|\[object Object\]/,
];

export async function send(world: RefusalWorld, request: RawRequest): Promise<RawAnswer> {
  const response = await fetch(`${world.app.url}${request.path ?? '/graphql'}`, {
    method: request.method ?? 'POST',
    headers: { 'content-type': 'application/json', ...request.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
  });
  const text = await response.text();
  const body = JSON.parse(text) as Partial<Pick<RawAnswer, 'data' | 'errors'>>;
  return { status: response.status, text, data: body.data ?? null, errors: body.errors ?? [] };
}

export async function sendQuery(
  world: RefusalWorld,
  { query, variables = {}, as = ANN }: Pick<BadRequest, 'query' | 'variables' | 'as'>,
): Promise<RawAnswer> {
  const values = isMaker(variables) ? variables(world) : variables;
  const json = typeof values === 'string' ? values : JSON.stringify(values);
  return send(world, {
    headers:
      as === null ? {} : { authorization: `Bearer ${await world.app.token(as.sub, as.roles ?? ['user'])}` },
    body: `{"query":${JSON.stringify(query)},"variables":${json}}`,
  });
}

function isMaker(variables: BadRequest['variables']): variables is (world: RefusalWorld) => object {
  return typeof variables === 'function';
}

/** The request gets the code it should, tells nothing of what is inside, changes nothing, and breaks nothing. */
export async function expectRefusal(
  world: RefusalWorld,
  refusal: Pick<BadRequest, 'code' | 'says' | 'isPartial'>,
  request: () => Promise<RawAnswer>,
): Promise<RawAnswer> {
  const before = await contents(world);
  const logged = world.app.log.length;
  const answer = await request();
  expect(answer.status).toBeLessThan(500);
  const { errors, data } = answer;
  expect(errors.map(({ extensions }) => extensions?.['code'])).toEqual(
    errors.map(() => refusal.code ?? 'BAD_USER_INPUT'),
  );
  expect(errors[0]?.message ?? 'no error').toMatch(refusal.says);
  if (refusal.isPartial !== true) expect(Object.values(data ?? {}).filter((v) => v !== null)).toEqual([]);
  expectNoInternals(answer);
  expect(await contents(world)).toEqual(before);
  expect(faultsIn(world.app.log.slice(logged))).toEqual([]);
  await expectWorking(world);
  return answer;
}

export function expectNoInternals({ errors, text }: RawAnswer): void {
  for (const { message, extensions = {} } of errors) {
    expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE_LENGTH);
    expect(['code', 'issues']).toEqual(expect.arrayContaining(Object.keys(extensions)));
  }
  for (const sign of INTERNALS) expect(text).not.toMatch(sign);
}

/** No fault of a client may be taken for one of the server's. */
function faultsIn(lines: readonly string[]): string[] {
  return lines.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line));
}

/** A good request is answered as if nothing had been. */
async function expectWorking(world: RefusalWorld): Promise<void> {
  const answer = await sendQuery(world, { query: '{ viewer { memberId member { name } } }' });
  expect([answer.status, answer.data, answer.errors]).toEqual([
    200,
    { viewer: { memberId: 'ann', member: { name: 'Ann' } } },
    [],
  ]);
}

/** Every collection with the number and a hash of its documents, but for what processes say of themselves. Asked for in one command. */
export async function contents({ app }: RefusalWorld): Promise<Record<string, string>> {
  const { db } = app.app.database;
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const [first = '', ...others] = collections.map(({ name }) => name).filter((name) => name !== 'processes');
  const of = (name: string) => [{ $project: { _id: 0, name: { $literal: name }, document: '$$ROOT' } }];
  const found = await db
    .collection(first)
    .aggregate<{ readonly name: string; readonly document: Document }>([
      ...of(first),
      ...others.map((coll) => ({ $unionWith: { coll, pipeline: of(coll) } })),
    ])
    .toArray();
  const texts = new Map([first, ...others].sort().map((name) => [name, [] as string[]]));
  for (const { name, document } of found) texts.get(name)?.push(BSON.EJSON.stringify(document));
  return Object.fromEntries(
    [...texts].map(([name, all]) => [
      name,
      `${String(all.length)} ${createHash('sha256').update(all.sort().join('\n')).digest('hex')}`,
    ]),
  );
}
