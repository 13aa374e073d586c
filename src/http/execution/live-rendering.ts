import {
  execute,
  GraphQLError,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
  Kind,
  visit,
} from 'graphql';
import type { GraphQLContext } from '../../graphql/context.ts';
import { findOperation, type Operation, expandedSize } from '../../graphql/limits/document-limits.ts';
import { writtenWithin, type AnswerLimits } from '../../graphql/rendering/answer.ts';
import { personalSelection, type PersonalSelection } from '../../graphql/rendering/personal-selection.ts';
import { plainFill, type FillText } from '../../graphql/rendering/plain-values.ts';
import { ownText, sharedText, type ResultText } from '../../graphql/rendering/result-text.ts';
import { toByteText, fromByteText } from '../../lib/byte-text.ts';
import { eachInTurns } from '../../lib/turn.ts';
import type { SharedEvent } from '../../core/shapes.ts';
import type { CompiledExecution } from './compiled-execution.ts';
import { valueGiven } from '../exchange/accept.ts';

/** Upper bound on the fields of an operation with shared results; fragments count at every spread. */
const MAX_FIELDS = 300;

/** An operation whose results can be shared. */
interface Sharable {
  readonly operation: Operation;
  /** Variables that may affect the content of an event. */
  readonly variables: readonly string[];
}

/** `null`: its results are not shared. */
function sharable(operation: Operation | null): Sharable | null {
  if (operation === null || expandedSize(operation, MAX_FIELDS + 1) > MAX_FIELDS) return null;
  return hasDirectives(operation) ? null : { operation, variables: usedBelowRoot(operation) };
}

function hasDirectives({ definition, fragments }: Operation): boolean {
  let has = false;
  const visitor = {
    [Kind.DIRECTIVE]() {
      has = true;
    },
  };
  for (const node of [definition, ...fragments.values()]) visit(node, visitor);
  return has;
}

/** Variables of the root field only select events: a resume cursor is different for everybody. */
function usedBelowRoot({ definition, fragments }: Operation): readonly string[] {
  const used = new Set<string>();
  const visitor = {
    [Kind.VARIABLE]({ name }: { readonly name: { readonly value: string } }) {
      used.add(name.value);
    },
  };
  const roots = definition.selectionSet.selections.flatMap((root) =>
    root.kind === Kind.FIELD ? (root.selectionSet ?? []) : root,
  );
  for (const node of [...roots, ...fragments.values()]) visit(node, visitor);
  const names = (definition.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  return names.filter((name) => used.has(name));
}

/** A serialised result, sent as it is: JSON in UTF-8 with one character per byte. */
export interface WrittenResult extends ExecutionResult {
  readonly bytes: string;
}

export function isWritten(result: ExecutionResult): result is WrittenResult {
  return 'bytes' in result;
}

/** Renders the events of one subscription. Disposed with it. */
export interface EventRenderer extends Disposable {
  /** @param args to execute the operation with the event as root value; called only if something must be executed. */
  render(event: SharedEvent, args: () => ExecutionArgs): ExecutionResult | Promise<ExecutionResult>;
  /**
   * Starts rendering the shared part. `true`: nothing is in progress; otherwise `wake` is called later, once, when it is
   * worth asking again.
   */
  prepare(
    events: readonly SharedEvent[],
    args: (event: SharedEvent) => ExecutionArgs,
    wake: () => void,
  ): boolean;
}

type Result = ExecutionResult | Promise<ExecutionResult>;

/** What an event shows to everybody who sees it: the object of one read. `null`: nothing. */
function shownIn(event: SharedEvent): object | null {
  if ('item' in event) return event.item.action;
  if ('action' in event) return event.action;
  return 'interaction' in event ? event.interaction : null;
}

/**
 * Renders an event once for its many watchers: watchers with the same operation form a group, and the shared part is
 * executed and serialised once per group and read of the action. The viewer's own values are filled into the gaps: plain
 * ones are read from the event, and if one is not plain, all of them are executed for each viewer with the same resolvers.
 * Events of a watcher whose operation nobody else uses, or that contains directives, are executed individually.
 */
export class LiveRendering {
  readonly #execution: CompiledExecution;
  readonly #limits: AnswerLimits;
  readonly #groups = new Map<DocumentNode, Map<string, Group>>();
  /** By document, which the parser returns as the same object for the same text, and operation name. */
  readonly #sharable = new WeakMap<DocumentNode, Map<string, Sharable | null>>();

  constructor(execution: CompiledExecution, limits: AnswerLimits) {
    this.#execution = execution;
    this.#limits = limits;
  }

  /** The result as it is sent: as text, unless it has errors; with an error instead of data that are too large. */
  finish(result: ExecutionResult): ExecutionResult {
    if (isWritten(result) || result.data == null) return result;
    const text = writtenWithin(this.#limits.maxAnswerBytes, result.data);
    if (text instanceof GraphQLError) return { errors: [text] };
    return result.errors === undefined ? written(toByteText(text)) : result;
  }

  /** @param locale of sentences. */
  open({ schema, document, operationName, variableValues }: ExecutionArgs, locale: string): EventRenderer {
    const name = operationName ?? '';
    const known = this.#sharable.get(document) ?? new Map<string, Sharable | null>();
    this.#sharable.set(document, known);
    const shared = known.get(name) ?? sharable(findOperation(document, operationName));
    known.set(name, shared);
    const run = (args: ExecutionArgs): Result => {
      const { answer } = args.contextValue as GraphQLContext;
      const result = this.#execution.execute(args, execute);
      if (answer === undefined) return result;
      return result instanceof Promise
        ? result.then((settled) => answer.checked(settled))
        : answer.checked(result);
    };
    if (shared === null)
      return { render: (_event, args) => run(args()), prepare: () => true, [Symbol.dispose]: nothing };
    const groups = this.#groups.get(document) ?? new Map<string, Group>();
    this.#groups.set(document, groups);
    const { operation, variables } = shared;
    const values = variables.map((variable) => valueGiven(variableValues ?? {}, variable));
    const key = JSON.stringify([name, locale, values]);
    const joined = groups.get(key);
    if (joined !== undefined) return new Member(joined);
    const group = new Group({ run, schema, operation, limits: this.#limits }, () => {
      if (groups.get(key) === group) groups.delete(key);
      if (groups.size === 0 && this.#groups.get(document) === groups) this.#groups.delete(document);
    });
    groups.set(key, group);
    return new Member(group);
  }
}

const nothing = (): undefined => undefined;

/** A class instead of an object of functions, since every open subscription has one. */
class Member implements EventRenderer {
  readonly #group: Group;
  #hasLeft = false;

  constructor(group: Group) {
    this.#group = group;
    group.members += 1;
  }

  render(event: SharedEvent, args: () => ExecutionArgs): Result {
    return this.#group.render(event, args);
  }

  prepare(
    events: readonly SharedEvent[],
    args: (event: SharedEvent) => ExecutionArgs,
    wake: () => void,
  ): boolean {
    return this.#group.prepare(events, args, wake);
  }

  [Symbol.dispose](): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#group.leave();
  }
}

interface Shown {
  /** The event that was executed. */
  readonly first: SharedEvent;
  readonly result: Result;
  /** Its result; `null`: in progress, or failed. */
  settled: ExecutionResult | null;
  /** Created when a second member needs it. */
  written: Written | null;
  /** It is too large to be sent to anybody. */
  excess: ExecutionResult | null;
  /** Members waiting for it to be finished; `null`: finished. */
  waiting: (() => void)[] | null;
}

interface Written {
  readonly text: ResultText;
  /** `null`: the viewer's own values must be executed. */
  readonly fill: FillText | null;
}

interface GroupOptions {
  readonly run: (args: ExecutionArgs) => Result;
  readonly schema: GraphQLSchema;
  readonly operation: Operation;
  readonly limits: AnswerLimits;
}

class Group {
  members = 0;
  readonly #onEmpty: () => void;
  readonly #run: GroupOptions['run'];
  readonly #limits: AnswerLimits;
  readonly #schema: GraphQLSchema;
  readonly #operation: Operation;
  #selection: PersonalSelection | null = null;
  /** By what was read, and discarded with it. */
  readonly #shown = new WeakMap<object, Map<SharedEvent['kind'], Shown>>();

  constructor({ run, schema, operation, limits }: GroupOptions, onEmpty: () => void) {
    this.#onEmpty = onEmpty;
    this.#run = run;
    this.#limits = limits;
    this.#schema = schema;
    this.#operation = operation;
  }

  leave(): void {
    this.members -= 1;
    if (this.members === 0) this.#onEmpty();
  }

  render(event: SharedEvent, args: () => ExecutionArgs): Result {
    const of = this.#sharedIn(event);
    if (of === null) return this.#run(args());
    const shown = this.#shown.get(of)?.get(event.kind);
    if (shown === undefined) return this.#begin(of, event, args()).result;
    if (shown.first === event && shown.written === null) return shown.excess ?? shown.result;
    const fill = this.#writtenOf(shown)?.fill ?? null;
    if (shown.excess !== null) return shown.excess;
    return fill === null ? this.#renderLike(shown, event, args) : written(fill(event));
  }

  prepare(
    events: readonly SharedEvent[],
    args: (event: SharedEvent) => ExecutionArgs,
    wake: () => void,
  ): boolean {
    let waiting: Shown['waiting'] = null;
    for (const event of events) {
      const of = this.#sharedIn(event);
      if (of === null) continue;
      const shown = this.#shown.get(of)?.get(event.kind) ?? this.#begin(of, event, args(event));
      // The last one started is usually the last one finished.
      waiting = shown.waiting ?? waiting;
    }
    waiting?.push(wake);
    return waiting === null;
  }

  #sharedIn(event: SharedEvent): object | null {
    return this.members > 1 ? shownIn(event) : null;
  }

  #begin(of: object, event: SharedEvent, args: ExecutionArgs): Shown {
    const result = this.#run(args);
    const shown: Shown = { first: event, result, settled: null, written: null, excess: null, waiting: null };
    const byKind = this.#shown.get(of) ?? new Map<SharedEvent['kind'], Shown>();
    byKind.set(event.kind, shown);
    this.#shown.set(of, byKind);
    if (!(result instanceof Promise)) {
      shown.settled = result;
      return shown;
    }
    const waiting: (() => void)[] = [];
    shown.waiting = waiting;
    const goOn = (): void => {
      shown.waiting = null;
      void eachInTurns(waiting, (wake) => wake());
    };
    // If it fails, each member executes it itself.
    result
      .then((settled) => {
        shown.settled = settled;
        if (waiting.length > 1) this.#writtenOf(shown);
      })
      .then(goOn, goOn);
    return shown;
  }

  /** `null`: in progress, or not shared. */
  #writtenOf(shown: Shown): Written | null {
    const { settled, first } = shown;
    if (shown.written !== null || shown.excess !== null) return shown.written;
    if (settled?.errors !== undefined || settled?.data == null) return null;
    const made = this.#write(settled.data, first);
    if (made instanceof GraphQLError) shown.excess = { errors: [made] };
    else shown.written = made;
    return shown.written;
  }

  async #renderLike(shown: Shown, event: SharedEvent, args: () => ExecutionArgs): Promise<ExecutionResult> {
    shown.settled ??= await shown.result;
    const same = this.#writtenOf(shown);
    if (shown.excess !== null) return shown.excess;
    if (same === null) return this.#run(args());
    const { text, fill } = same;
    if (fill !== null) return written(fill(event));
    const { document } = this.#selected();
    const own = document === null ? { data: {} } : await this.#run({ ...args(), document });
    if (own.errors !== undefined) return this.#run(args());
    const filled = ownText(text, own.data, this.#limits.maxAnswerBytes);
    if (filled instanceof GraphQLError) return { errors: [filled] };
    return filled === null ? this.#run(args()) : written(toByteText(filled));
  }

  #selected(): PersonalSelection {
    return (this.#selection ??= personalSelection(this.#schema, this.#operation));
  }

  /** @param event of a member with the same result. */
  #write(data: object, event: SharedEvent): Written | GraphQLError {
    const { places } = this.#selected();
    const text = sharedText(data, places, this.#limits.maxAnswerBytes);
    if (text instanceof GraphQLError) return text;
    const type = this.#schema.getRootType(this.#operation.definition.operation);
    const fill = type == null ? null : plainFill(this.#schema, type, { text, places, root: event });
    return { text, fill };
  }
}

function written(data: string): WrittenResult {
  return { bytes: `{"data":${data}}` };
}

/** A result that Yoga lets serialise itself. */
interface OwnWriting {
  readonly stringify: (result: unknown) => string;
}

/**
 * Writes a result into an event stream together with its `id:`, which browsers send as `Last-Event-ID` when they reconnect.
 * Yoga writes `data: ` before it, and the lines of an event may come in any order.
 */
export function withEventId(result: ExecutionResult, id: string): ExecutionResult & OwnWriting {
  const write = isWritten(result)
    ? () => fromByteText(result.bytes)
    : (shown: unknown) => JSON.stringify(shown);
  return { ...result, stringify: (shown) => `${write(shown)}\nid: ${id}` };
}
