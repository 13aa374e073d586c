import {
  execute,
  Kind,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { expandedSize } from '../../graphql/limits/expanded-size.ts';
import { findOperation, type Operation } from '../../graphql/limits/operation.ts';
import { personalSelection, type PersonalSelection } from '../../graphql/rendering/personal-selection.ts';
import { plainFill, type FillText } from '../../graphql/rendering/plain-values.ts';
import { ownText, sharedText, type ResultText } from '../../graphql/rendering/result-text.ts';
import { OnDispose } from '../../lib/on-dispose.ts';
import type { FeedEvent } from '../../services/shapes.ts';
import type { CompiledExecution } from './compiled-execution.ts';
import { valueGiven } from '../exchange/value-given.ts';

/** A result that has been written already: what is sent is its text, as JSON. */
export interface WrittenResult extends ExecutionResult {
  readonly text: string;
}

export function isWritten(result: ExecutionResult): result is WrittenResult {
  return 'text' in result;
}

/** Shows the events of one subscription. Disposed of with it. */
export interface EventRenderer extends Disposable {
  /** @param args to execute the operation with, its root value the event; asked for only where something is executed. */
  render(event: FeedEvent, args: () => ExecutionArgs): ExecutionResult | Promise<ExecutionResult>;
}

type Result = ExecutionResult | Promise<ExecutionResult>;

/** Fields of the largest operation whose results are shared, fragments counted wherever they are spread. */
const MAX_FIELDS = 300;

/**
 * Shows an event that comes to many watchers once: watchers with the same operation form a group, and what is the same
 * for all viewers is executed and written once for each group and each read of the action. The viewer's own values are
 * put into the gaps: those that are plain are read from the event, and where one is not, all of them are executed for each
 * viewer, by the same resolvers. Anyone who is alone with their operation, or uses
 * directives, is shown events one by one.
 */
export class LiveRendering {
  readonly #execution: CompiledExecution;
  readonly #groups = new Map<DocumentNode, Map<string, Group>>();

  constructor(execution: CompiledExecution) {
    this.#execution = execution;
  }

  /** @param locale of what is said in words. */
  open({ schema, document, operationName, variableValues }: ExecutionArgs, locale: string): EventRenderer {
    const operation = findOperation(document, operationName);
    const run = (args: ExecutionArgs): Result => this.#execution.execute(args, execute);
    if (operation === null || !isSharable(operation))
      return { render: (_event, args) => run(args()), [Symbol.dispose]: nothing };
    const groups = this.#groups.get(document) ?? new Map<string, Group>();
    this.#groups.set(document, groups);
    const key = JSON.stringify([operationName ?? '', locale, usedBelowRoot(operation, variableValues ?? {})]);
    const group = groups.get(key) ?? new Group(run, { schema, operation });
    groups.set(key, group);
    group.members += 1;
    const leaving = new OnDispose(() => {
      group.members -= 1;
      if (group.members > 0) return;
      if (groups.get(key) === group) groups.delete(key);
      if (groups.size === 0 && this.#groups.get(document) === groups) this.#groups.delete(document);
    });
    return {
      render: (event, args) => group.render(event, args),
      [Symbol.dispose]: () => {
        leaving[Symbol.dispose]();
      },
    };
  }
}

const nothing = (): undefined => undefined;

interface Shown {
  readonly result: Result;
  /** Made when a second member is shown the same. */
  written: Written | null;
}

interface Written {
  readonly text: ResultText;
  /** Null: what is the viewer's own has to be executed. */
  readonly fill: FillText | null;
}

class Group {
  members = 0;
  readonly #run: (args: ExecutionArgs) => Result;
  readonly #schema: GraphQLSchema;
  readonly #operation: Operation;
  #selection: PersonalSelection | null = null;
  /** By what was read of the action: it goes with it. */
  readonly #shown = new WeakMap<object, Map<FeedEvent['kind'], Shown>>();

  constructor(
    run: (args: ExecutionArgs) => Result,
    { schema, operation }: { readonly schema: GraphQLSchema; readonly operation: Operation },
  ) {
    this.#run = run;
    this.#schema = schema;
    this.#operation = operation;
  }

  render(event: FeedEvent, args: () => ExecutionArgs): Result {
    if (this.members < 2 || !('sighting' in event)) return this.#run(args());
    const byKind = this.#shown.get(event.sighting) ?? new Map<FeedEvent['kind'], Shown>();
    const shown = byKind.get(event.kind);
    if (shown !== undefined) {
      const fill = shown.written?.fill ?? null;
      return fill === null ? this.#renderLike(shown, event, args) : written(fill(event));
    }
    const result = this.#run(args());
    byKind.set(event.kind, { result, written: null });
    this.#shown.set(event.sighting, byKind);
    return result;
  }

  async #renderLike(shown: Shown, event: FeedEvent, args: () => ExecutionArgs): Promise<ExecutionResult> {
    const { data, errors } = await shown.result;
    if (errors !== undefined || data == null) return this.#run(args());
    const selection = (this.#selection ??= personalSelection(this.#schema, this.#operation));
    const { text, fill } = (shown.written ??= this.#write(data, selection, event));
    if (fill !== null) return written(fill(event));
    const { document } = selection;
    const own = document === null ? { data: {} } : await this.#run({ ...args(), document });
    if (own.errors !== undefined) return this.#run(args());
    const filled = ownText(text, own.data);
    return filled === null ? this.#run(args()) : written(filled);
  }

  /** @param event of a member who is shown the same. */
  #write(data: object, { places }: PersonalSelection, event: FeedEvent): Written {
    const text = sharedText(data, places);
    const type = this.#schema.getRootType(this.#operation.definition.operation);
    const fill = type == null ? null : plainFill(this.#schema, type, { text, places, root: event });
    return { text, fill };
  }
}

function written(data: string): WrittenResult {
  return { text: `{"data":${data}}` };
}

function isSharable(operation: Operation): boolean {
  return expandedSize(operation, MAX_FIELDS + 1) <= MAX_FIELDS && !hasDirectives(operation);
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

/**
 * The values of those variables on which the content of an event may depend. What is given to the root field says which
 * events come: a cursor after which to go on is everybody's own.
 */
function usedBelowRoot(
  { definition, fragments }: Operation,
  values: Readonly<Record<string, unknown>>,
): readonly (readonly [string, readonly unknown[]])[] {
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
  return names.filter((name) => used.has(name)).map((name) => [name, valueGiven(values, name)]);
}
