import type { Document } from 'mongodb';

/** A node of PostgreSQL's plan as `EXPLAIN (FORMAT JSON)` writes it. */
type PlanNode = Readonly<Record<string, unknown>>;

/** A plan with the timing beside it. */
export interface Plan {
  readonly raw: Document;
  readonly root: PlanNode;
}

/** Reads the JSON of EXPLAIN. */
export function readPlan(json: Buffer): Plan {
  const [raw] = JSON.parse(json.toString()) as [Document];
  return { raw, root: raw['Plan'] as PlanNode };
}

/** PostgreSQL's nodes by the MongoDB stages that do the same. */
const stageNames: Readonly<Record<string, string>> = {
  'Seq Scan': 'COLLSCAN',
  'Sample Scan': 'COLLSCAN',
  'Tid Scan': 'COLLSCAN',
  Sort: 'SORT',
  'Incremental Sort': 'SORT',
  Limit: 'LIMIT',
  Unique: 'DISTINCT',
  'Merge Append': 'SORT_MERGE',
  Append: 'OR',
  BitmapOr: 'OR',
  BitmapAnd: 'AND_SORTED',
  Aggregate: 'GROUP',
  'Function Scan': 'EOF',
};

/** Nodes that only hand on what is below them. */
const transparent = new Set([
  'Custom Scan',
  'Result',
  'Subquery Scan',
  'ProjectSet',
  'LockRows',
  'Materialize',
  'Gather',
]);

/** MongoDB's form of a plan: nested stages with the names tests and tools look for. */
export function planOf(plan: Plan): Document {
  return stageOf(plan.root, new Map());
}

/** How a query went, in MongoDB's words; needs a plan of a query that was run. */
export function executionOf(plan: Plan): Document {
  const nodes = [...walk(plan.root)];
  const scans = nodes.filter((node) => isDocumentScan(node));
  return {
    executionSuccess: true,
    nReturned: actualRows(plan.root),
    executionTimeMillis: Math.ceil(Number(plan.raw['Execution Time'] ?? 0)),
    totalKeysExamined: sum(
      nodes.flatMap(indexDetails).map((detail) => Number(detail['innerScanLoops'] ?? 0)),
    ),
    totalDocsExamined: sum(scans.map(examinedRows)),
    executionStages: planOf(plan),
  };
}

function stageOf(node: PlanNode, details: ReadonlyMap<string, Document>): Document {
  const type = String(node['Node Type']);
  const known = new Map([
    ...details,
    ...indexDetails(node).map((detail) => [String(detail['indexName']), detail] as const),
  ]);
  const below = children(node);
  if (transparent.has(type) && below.length === 1 && below[0] !== undefined) return stageOf(below[0], known);
  if (isWholeCollection(node))
    return { stage: 'COLLSCAN', ...rowsOf(node), ...text(node, 'Filter', 'filter') };
  if (type === 'Index Scan') return fetchStage(node, [indexStage(node, known)]);
  if (type === 'Index Only Scan' || type === 'Bitmap Index Scan') return indexStage(node, known);
  const inputs = below.map((child) => stageOf(child, known));
  if (type === 'Bitmap Heap Scan') return fetchStage(node, inputs);
  const stage = type === 'ModifyTable' ? String(node['Operation']).toUpperCase() : stageNames[type];
  return {
    stage: stage ?? type.toUpperCase().replaceAll(' ', '_'),
    ...rowsOf(node),
    ...text(node, 'Filter', 'filter'),
    ...text(node, 'Sort Key', 'sortPattern'),
    ...inputsOf(inputs),
  };
}

/**
 * With sequential scans avoided, a query without an index walks the table by its primary key, of which every row has
 * the same first part: that is a collection scan by another name.
 */
function isWholeCollection(node: PlanNode): boolean {
  if (String(node['Node Type']) === 'Bitmap Heap Scan') {
    const [only, ...more] = children(node);
    return only !== undefined && more.length === 0 && isWholeCollection(only);
  }
  const condition = node['Index Cond'];
  return (
    isText(condition) &&
    node['Index Name'] === '_id_' &&
    !condition.includes('object_id') &&
    !('Order By' in node)
  );
}

function fetchStage(node: PlanNode, inputs: readonly Document[]): Document {
  return { stage: 'FETCH', ...rowsOf(node), ...text(node, 'Filter', 'filter'), ...inputsOf(inputs) };
}

function indexStage(node: PlanNode, details: ReadonlyMap<string, Document>): Document {
  const indexName = String(node['Index Name']);
  const detail = details.get(indexName);
  const pattern: unknown = detail?.['indexKey'];
  return {
    stage: 'IXSCAN',
    ...rowsOf(node),
    indexName,
    keyPattern:
      typeof pattern === 'string'
        ? (JSON.parse(pattern) as Document)
        : indexName === '_id_'
          ? { _id: 1 }
          : {},
    isMultiKey: detail?.['isMultiKey'] === true,
    direction: node['Scan Direction'] === 'Backward' ? 'backward' : 'forward',
    ...(detail?.['indexBounds'] === undefined ? {} : { indexBounds: detail['indexBounds'] as unknown }),
    ...text(node, 'Index Cond', 'indexCondition'),
  };
}

function inputsOf(inputs: readonly Document[]): Document {
  if (inputs.length === 0) return {};
  return inputs.length === 1 ? { inputStage: inputs[0] } : { inputStages: inputs };
}

function rowsOf(node: PlanNode): Document {
  return 'Actual Rows' in node ? { nReturned: actualRows(node) } : {};
}

function text(node: PlanNode, from: string, to: string): Document {
  return node[from] === undefined ? {} : { [to]: node[from] };
}

function children(node: PlanNode): PlanNode[] {
  return (node['Plans'] ?? []) as PlanNode[];
}

function* walk(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of children(node)) yield* walk(child);
}

/** What the engine's own scan node tells of the indexes below it. */
function indexDetails(node: PlanNode): Document[] {
  return (node['IndexDetails'] ?? []) as Document[];
}

function isDocumentScan(node: PlanNode): boolean {
  const type = node['Node Type'];
  return type === 'Seq Scan' || type === 'Index Scan' || type === 'Bitmap Heap Scan';
}

function actualRows(node: PlanNode): number {
  return Math.round(Number(node['Actual Rows'] ?? 0) * Number(node['Actual Loops'] ?? 1));
}

function examinedRows(node: PlanNode): number {
  const removed =
    Number(node['Rows Removed by Filter'] ?? 0) + Number(node['Rows Removed by Index Recheck'] ?? 0);
  return actualRows(node) + Math.round(removed * Number(node['Actual Loops'] ?? 1));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
