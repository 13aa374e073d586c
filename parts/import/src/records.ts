import { createHash } from 'node:crypto';
import { z } from 'zod';
import { descriptorOfInput } from '../../../src/descriptors/registry.ts';
import { SCOPES } from '../../../src/domain/action.ts';
import type { FollowInput, MemberInput, PublishActionInput, RefInput } from '../../../src/core/shapes.ts';
import type { Line } from '../../../src/lib/lines.ts';

/** Contents of one line per kind of file: the API's inputs. */
export interface Records {
  readonly members: MemberInput;
  readonly refs: RefInput;
  readonly follows: FollowInput;
  readonly actions: PublishActionInput;
}

export type RecordKind = keyof Records;

export type ReadRecord<R> =
  | { readonly line: number; readonly record: R; readonly bytes: number; readonly fault: null }
  | { readonly line: number; readonly record: null; readonly fault: string };

const detailFields = {
  imageUrl: z.string().nullish(),
  url: z.string().nullish(),
  data: z.unknown().optional(),
};
const refSchema = z.strictObject({ id: z.string(), type: z.string(), label: z.string(), ...detailFields });
const strings = z.array(z.string()).nullish();
const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .nullish();

const descriptorSchema = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  const given = Object.entries(value).filter(([, body]) => body !== undefined);
  for (const [name] of given)
    if (descriptorOfInput(name) === undefined)
      context.addIssue({ code: 'custom', message: `Unrecognized key: ${JSON.stringify(name)}` });
  if (given.length !== 1) context.addIssue({ code: 'custom', message: 'Must have exactly one descriptor' });
  for (const [name, body] of given)
    for (const issue of descriptorOfInput(name)?.schema.safeParse(body).error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [name, ...issue.path], message: issue.message });
});

/**
 * The API's inputs, field by field: checks the shapes for which the API would reject a whole batch. Everything else about a
 * value is checked by the server, which answers per entry.
 */
export const SCHEMAS: {
  readonly [K in RecordKind]: z.ZodType<Records[K]> & { readonly shape: object };
} = {
  members: z.strictObject({
    memberId: z.string(),
    name: z.string(),
    teamId: z.string().nullish(),
    departmentId: z.string().nullish(),
    supervisorId: z.string().nullish(),
    email: z.string().nullish(),
    locale: z.string().nullish(),
    timeZone: z.string().nullish(),
    ...detailFields,
  }),
  refs: refSchema,
  follows: z.strictObject({
    followerId: z.string(),
    refId: z.string(),
    types: strings,
    isAssigned: z.boolean().nullish(),
  }),
  actions: z.strictObject({
    idempotencyKey: z.string().nullish(),
    actorId: z.string().nullish(),
    conducted: time,
    expiresAt: time,
    scope: z.enum(SCOPES).nullish(),
    recipients: strings,
    mentions: strings,
    refs: z.array(refSchema).nullish(),
    descriptor: descriptorSchema,
  }),
};

/** The key of an action whose line has none; `null`: the line is refused. */
export type KeyOf = (line: Line) => string | null;

const COMPLETE: {
  readonly [K in RecordKind]: (record: Records[K], line: Line, keyOf: KeyOf) => Records[K] | null;
} = {
  members: (member) => member,
  refs: (ref) => ref,
  follows: (follow) => follow,
  actions: withIdempotencyKey,
};

/** @param keyOf Default: one derived from the line and its place, so that the same file can be imported again. */
export function readRecord<K extends RecordKind>(
  kind: K,
  line: Line,
  keyOf: KeyOf = keyOfPlace,
): ReadRecord<Records[K]> {
  if (line.fault !== null) return { line: line.number, record: null, fault: line.fault };
  const json = parseJson(line.text);
  if (json === undefined) return { line: line.number, record: null, fault: 'The line is not JSON' };
  const read = SCHEMAS[kind].safeParse(json);
  if (!read.success)
    return { line: line.number, record: null, fault: read.error.issues.map(shownIssue).join('; ') };
  const record = COMPLETE[kind](read.data, line, keyOf);
  if (record === null)
    return { line: line.number, record, fault: 'idempotencyKey: Must be given, to be sent again safely' };
  return { line: line.number, record, bytes: Buffer.byteLength(line.text), fault: null };
}

function withIdempotencyKey(action: PublishActionInput, line: Line, keyOf: KeyOf): PublishActionInput | null {
  if (action.idempotencyKey != null) return action;
  const idempotencyKey = keyOf(line);
  return idempotencyKey === null ? null : { ...action, idempotencyKey };
}

function keyOfPlace({ number, text }: Line): string {
  return `import:${digestOf(`${String(number)}\n${text ?? ''}`)}`;
}

/** Equal lines have equal keys, wherever they stand. */
export function keyOfContent({ text }: Line): string {
  return `content:${digestOf(text ?? '')}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function shownIssue(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}
