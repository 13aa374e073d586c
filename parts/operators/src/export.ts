import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isThere, NewFile } from '../../../src/lib/own-file.ts';
import type { Acting } from '../../../src/core/stored-input.ts';
import type { ExportPart } from '../../../src/core/shapes.ts';
import { configOf, CommandError, operatorOf } from '../../../src/cli/context.ts';
import { connectToServer } from '../../../src/cli/api-client.ts';
import { endOnSignals } from '../../../src/cli/shutdown.ts';
import { openRuntime } from '../../../src/cli/runtime.ts';
import { actingFor, type ActingOptions } from '../../../src/cli/token.ts';
import { exportMember as partsOfMember } from '../../erasure/src/export-member.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';

export interface ExportOptions extends ActingOptions {
  readonly member: string;
  readonly out?: string;
  readonly url?: string;
  readonly token?: string;
}

interface Answer {
  readonly memberExport: Readonly<Record<string, unknown>>;
}

const OPERATOR = operatorOf('export');
const QUERY = 'query ($memberId: String!) { memberExport(memberId: $memberId) }';

/** Writes all stored data about a member as one JSON document, to a file or stdout, in bounded memory. */
export async function exportMember(context: CommandContext, options: ExportOptions): Promise<void> {
  const { member: memberId, out } = options;
  // Checked before anything is started: existing files are never overwritten.
  if (out !== undefined && (await isThere(out))) throw new CommandError(`--out ${out} already exists`);
  const file = out === undefined ? null : new NewFile(out);
  const discard = () => file?.discard() ?? Promise.resolve();
  const farewell = () =>
    out === undefined
      ? 'Interrupted: the output is incomplete.'
      : `Interrupted: ${out} was not written. Run the same command again.`;
  if (options.url !== undefined) {
    endOnSignals(context.terminal, { farewell, close: discard });
    const client = await connectToServer(context, { ...options, url: options.url });
    const { memberExport } = await client.run<Answer>(QUERY, { memberId });
    const sections = Object.entries(memberExport).map(([section, value]) => ({ section, value }));
    if (!sections.some(holdsSomething)) throw nothingAbout(memberId);
    await write(context, file, [JSON.stringify(memberExport, null, 1)]);
    return;
  }
  const config = configOf(context, { needsKey: false });
  const acting = actingFor(config, options);
  await using runtime = await openRuntime(context, {
    config,
    parts: { api: false, worker: false },
    voice: 'command',
    farewell,
    onInterrupted: discard,
  });
  const { core } = runtime.app;
  const session = openSession(core, acting.as(OPERATOR));
  const { memberId: id } = acting.stored({ memberId });
  const parts = unlessNothing(memberId, partsOfMember(core, session, id));
  await write(context, file, jsonLines(shownBy(acting, parts)));
}

/** Sections about the export itself. */
const HEAD: ReadonlySet<string> = new Set(['format', 'memberId', 'exportedAt']);

function holdsSomething(part: ExportPart): boolean {
  const value = 'entries' in part ? part.entries : part.value;
  if (HEAD.has(part.section) || value === null || value === 0) return false;
  return !Array.isArray(value) || value.length > 0;
}

/** Keeps back the first parts until one holds something. @throws CommandError when none does */
async function* unlessNothing(
  memberId: string,
  parts: AsyncIterable<ExportPart>,
): AsyncGenerator<ExportPart, void, undefined> {
  const kept: ExportPart[] = [];
  let isSomething = false;
  for await (const part of parts) {
    kept.push(part);
    isSomething ||= holdsSomething(part);
    if (isSomething) yield* kept.splice(0);
  }
  if (!isSomething) throw nothingAbout(memberId);
}

function nothingAbout(memberId: string): CommandError {
  return new CommandError(`Nothing is stored about "${memberId}": nothing was written.`);
}

/** Converts ids to the host application's form. */
async function* shownBy(
  acting: Acting,
  parts: AsyncIterable<ExportPart>,
): AsyncGenerator<ExportPart, void, undefined> {
  for await (const part of parts) yield acting.shown(part);
}

/** Lines of a JSON object; each entry of a list is on its own line, after the comma. */
export async function* jsonLines(parts: AsyncIterable<ExportPart>): AsyncGenerator<string, void, undefined> {
  let section: string | null = null;
  let isListOpen = false;
  let isFirstEntry = true;
  for await (const part of parts) {
    const isList = 'entries' in part;
    if (part.section !== section) {
      if (isListOpen) yield ']';
      const name = `${section === null ? '{' : ','}${JSON.stringify(part.section)}: `;
      yield isList ? `${name}[` : `${name}${JSON.stringify(part.value)}`;
      section = part.section;
      isListOpen = isList;
      isFirstEntry = true;
    }
    for (const entry of isList ? part.entries : []) {
      yield `${isFirstEntry ? '' : ','}${JSON.stringify(entry)}`;
      isFirstEntry = false;
    }
  }
  yield isListOpen ? ']}' : '}';
}

async function write(
  { terminal }: CommandContext,
  file: NewFile | null,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  if (file === null) {
    for await (const line of lines) terminal.out(line);
    return;
  }
  try {
    await pipeline(
      Readable.from(lines).map((line: string) => `${line}\n`),
      file.open(),
    );
    await file.complete();
  } finally {
    await file.discard();
  }
  terminal.note(`Written to ${file.path}`);
}
