import { type ASTNode, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { descriptorTypes } from '../../descriptors/registry.ts';

/** What an expression can use, with its type, unit and meaning. */
export const RANK_VARIABLES = {
  ageHours: ['double', 'Hours between `conducted` and the generation; 0 for an action that is newer.'],
  likes: ['double', 'Likes, when the generation began.'],
  comments: ['double', 'Comments, when the generation began.'],
  reshares: ['double', 'Reshares, when the generation began.'],
  reactions: ['double', 'Reactions of all kinds, when the generation began.'],
  isFollowed: ['bool', 'The reader follows its actor, one of its refs, or a member who reshared it.'],
  reasons: ['list<string>', 'Why it is in the feed, such as `MENTION`.'],
  relationship: [
    'double',
    'How often the reader interacted with its actor in 30 days: from 0 for never over 0.5 for five times towards 1.',
  ],
  type: ['string', 'The type of its descriptor, such as `Posted`.'],
  tags: ['list<string>', 'Its tags.'],
  impressions: ['double', 'How often the reader was shown it; what is a day old counts half.'],
} as const;

/** The word `type` names a type in the language: expressions are rewritten to this variable. */
const TYPE = 'actionType';

/** Values of the variables for one item. */
export interface RankVariables {
  readonly ageHours: number;
  readonly likes: number;
  readonly comments: number;
  readonly reshares: number;
  readonly reactions: number;
  readonly isFollowed: boolean;
  readonly reasons: readonly string[];
  readonly relationship: number;
  readonly [TYPE]: string;
  readonly tags: readonly string[];
  readonly impressions: number;
  /** As `contentOf` gives it. */
  readonly descriptor: Readonly<Record<string, unknown>>;
}

export interface RankExpression {
  /** `null`: it has no value for this item, for instance because it divides by zero. */
  readonly valueOf: (variables: RankVariables) => number | null;
  /** What it uses of a descriptor. */
  readonly contentOf: (descriptor: Readonly<Record<string, unknown>>) => RankVariables['descriptor'];
  /** Names of the variables that it uses; those of the descriptor as `descriptor.rating`. */
  readonly uses: ReadonlySet<string>;
}

const MAX_NODES = 200;
const MAX_DEPTH = 50;
const MAX_LENGTH = 2_000;
/** Functions that run once for each element of a list. */
const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
const LISTS: ReadonlySet<string> = new Set(['tags', 'reasons']);

/**
 * An expression of the Common Expression Language whose value is a number. It is checked here, so that no item can make it cost more than
 * its length: loops run over tags or reasons alone, and not within each other.
 * @throws Error with what is wrong, for people
 */
export function compileRank(expression: string): RankExpression {
  if (expression.length > MAX_LENGTH) throw new Error(`Must be at most ${String(MAX_LENGTH)} characters`);
  const environment = environmentOf();
  const walked: Walked = { uses: new Set(), types: [], isInLoop: false };
  walk(parsed(environment, expression).ast, walked);
  const program = parsed(environment, renamed(expression, walked.types));
  const { valid, type, error } = program.check();
  if (!valid) throw new Error(`${firstLine(error)}${hint(firstLine(error))}`);
  if (type !== 'double' && type !== 'int') throw new Error(`Must be a number, but is a ${String(type)}`);
  const { uses } = walked;
  const fields = [...fieldsOf()].filter(([name]) => uses.has(`${FIELD}${name}`));
  return {
    uses,
    contentOf(descriptor) {
      if (fields.length === 0) return NOTHING;
      return Object.fromEntries(fields.map(([name, kind]) => [name, descriptor[name] ?? NONE[kind]]));
    },
    valueOf(variables) {
      try {
        const value = Number(program(variables));
        return Number.isFinite(value) ? value : null;
      } catch (problem) {
        if (problem instanceof EvaluationError) return null;
        throw problem;
      }
    },
  };
}

const FIELD = 'descriptor.';
/** What an action has in place of a field that its type does not have. */
const NONE = { double: 0, string: '' } as const;
const NOTHING = {};
type FieldKind = keyof typeof NONE;

/** Numbers and names that the types of this process declare. A field that is a number in one type and a name in another is neither. */
function fieldsOf(): ReadonlyMap<string, FieldKind> {
  const fields = new Map<string, FieldKind | null>();
  for (const { fieldList } of descriptorTypes())
    for (const { name, field } of fieldList) {
      const kind = field.kind === 'number' ? 'double' : field.kind === 'enum' ? 'string' : null;
      fields.set(name, fields.has(name) && fields.get(name) !== kind ? null : kind);
    }
  return new Map([...fields].flatMap(([name, kind]) => (kind === null ? [] : [[name, kind] as const])));
}

function environmentOf(): Environment {
  const environment = new Environment({ limits: { maxAstNodes: MAX_NODES, maxDepth: MAX_DEPTH } });
  for (const [name, [type]] of Object.entries(RANK_VARIABLES))
    environment.registerVariable(name === 'type' ? TYPE : name, type);
  environment.registerVariable({ name: 'descriptor', schema: Object.fromEntries(fieldsOf()) });
  return environment;
}

function parsed(environment: Environment, expression: string) {
  try {
    return environment.parse(expression);
  } catch (error) {
    if (error instanceof ParseError) throw new Error(firstLine(error), { cause: error });
    throw error;
  }
}

interface Walked {
  readonly uses: Set<string>;
  /** Where the variable `type` stands. */
  readonly types: ASTNode[];
  readonly isInLoop: boolean;
}

/** @throws Error for what an item could make costly */
function walk(node: ASTNode, walked: Walked): void {
  const { uses, types } = walked;
  if (node.op === 'id') {
    uses.add(node.args);
    if (node.args === 'type') types.push(node);
  } else if (node.op === '.' && isNamed(node.args[0], 'descriptor')) uses.add(`${FIELD}${node.args[1]}`);
  const isLoop = node.op === 'rcall' && MACROS.has(node.args[0]);
  if (node.op === 'rcall') {
    const [name, of] = node.args;
    if (name === 'matches') throw new Error('matches() is not available');
    const isOfList = of.op === 'id' && LISTS.has(of.args);
    if (isLoop && (walked.isInLoop || !isOfList))
      throw new Error(`${name}() is available for tags and reasons alone, and not within another`);
  }
  for (const part of [node.args].flat(2))
    if (isNode(part)) walk(part, isLoop ? { ...walked, isInLoop: true } : walked);
}

function isNode(part: unknown): part is ASTNode {
  return typeof part === 'object' && part !== null && 'op' in part;
}

function isNamed(node: ASTNode, name: string): boolean {
  return node.op === 'id' && node.args === name;
}

/** @param places of the variable `type`, in any order */
function renamed(expression: string, places: readonly ASTNode[]): string {
  return places
    .map(({ range }) => range)
    .sort((a, b) => b.start - a.start)
    .reduce((text, { start, end }) => text.slice(0, start) + TYPE + text.slice(end), expression);
}

/** Without the lines that show the place in the expression. */
function firstLine(error: Error | undefined): string {
  return (error?.message ?? '').split('\n', 1)[0] ?? '';
}

function hint(message: string): string {
  return /\bdouble\b.*\bint\b|\bint\b.*\bdouble\b/.test(message)
    ? ': all numbers of an item are of the type double, so write 3.0 instead of 3'
    : '';
}
