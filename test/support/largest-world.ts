import { startTestApp, type TestApp } from './app.ts';

/** The largest actions that the limits of input let in. */
export interface LargestWorld extends AsyncDisposable {
  readonly app: TestApp;
  /** What every action refers to. */
  readonly refId: string;
  readonly actions: readonly string[];
}

const ACTIONS = 100;
const REFS = 100;
/** A body may have 50,000 values of JSON. */
const AT_ONCE = 5;
const SERVICE = { sub: 'importer', roles: ['service'] } as const;

const long = (start: string, length: number): string => start.padEnd(length, 'x');
/** JSON of so many bytes, in the form that has the most values. */
const jsonOf = (bytes: number): object => ({ n: Array<number>((bytes - '{"n":[]}'.length) / 2).fill(1) });

const refs = Array.from({ length: REFS }, (_, n) => ({
  id: long(`ref-${String(n)}-`, 256),
  type: long('type', 256),
  label: long(`label-${String(n)}-`, 512),
}));
const refId = refs[0]?.id ?? '';

/** One page of actions for a reader who follows one of their refs. */
export async function openLargestWorld(reader: string): Promise<LargestWorld> {
  const app = await startTestApp();
  await send(app, 'mutation ($refId: String!) { follow(refId: $refId) { id } }', { refId }, { sub: reader });
  const inputs = Array.from({ length: ACTIONS }, (_, n) => ({
    ...{ actorId: long('actor', 256), scope: 'PUBLIC', refs },
    descriptor: {
      custom: {
        ...{ verb: long('verb', 64), objectType: long('kind', 64), targetId: long('target', 256) },
        ...{ objectId: long(`object-${String(n)}-`, 256), data: jsonOf(16 * 1_024) },
        tags: Array.from({ length: 32 }, (_unused, tag) => long(`tag-${String(tag)}-`, 64)),
      },
    },
  }));
  const actions: string[] = [];
  for (let at = 0; at < ACTIONS; at += AT_ONCE) {
    const { publishActions } = await send<{ publishActions: { action: { id: string } }[] }>(
      app,
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } } }',
      { inputs: inputs.slice(at, at + AT_ONCE) },
      SERVICE,
    );
    actions.push(...publishActions.map(({ action }) => action.id));
  }
  const [commented = ''] = actions;
  for (let n = 0; n < 20; n += 1)
    await send(
      app,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }',
      {
        input: {
          ...{ actionId: commented, actorId: `commenter-${String(n)}`, kind: 'COMMENT' },
          ...{ text: long('text', 10_000), data: jsonOf(4 * 1_024) },
        },
      },
      SERVICE,
    );
  await app.idle();
  return { app, refId, actions, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

async function send<T>(
  app: TestApp,
  document: string,
  variables: Readonly<Record<string, unknown>>,
  as: { readonly sub: string; readonly roles?: readonly ('service' | 'user')[] },
): Promise<T> {
  const { data, errors } = await app.query<T>(document, variables, as);
  if (data === null || errors.length > 0)
    throw new Error(`The operation failed: ${JSON.stringify(errors).slice(0, 500)}`);
  return data;
}
