import { COLLECTIONS } from '../src/app/collections.ts';
import {
  NAMES_NOBODY,
  NOT_OF_ACTIONS,
  tenantIn,
  type Declaration,
  type Not,
} from '../src/storage/documents/declaration.ts';

const HEAD = [
  'collection',
  'a document',
  'indexes',
  'shard key',
  'tenant',
  'erasure',
  'export',
  'with its action',
];

/** The table of all collections as Markdown, computed from their declarations. */
export function collectionsMarkdown(): string[] {
  return [HEAD, HEAD.map(() => '---'), ...COLLECTIONS.map(row)].map((cells) => `| ${cells.join(' | ')} |`);
}

function row(declaration: Declaration): string[] {
  const { name, holds, indexes, shard, erase, export: exported, action } = declaration;
  const tenant = tenantIn(declaration);
  const sections =
    'because' in exported ? [] : exported.map((one) => (typeof one === 'string' ? one : one.section));
  return [
    code(name),
    holds,
    indexes.length === 0 ? '`_id`' : codes(indexes.map((index) => index.name)),
    'because' in shard ? none(shard) : code(JSON.stringify(shard.key)),
    tenant.length === 0 ? '–' : codes(tenant),
    erase === 'delete' ? 'deleted' : 'because' in erase ? none(erase) : codes(erase),
    'because' in exported ? none(exported) : codes(sections),
    'because' in action
      ? none(action)
      : typeof action.purge === 'object'
        ? `archived; not deleted: ${action.purge.because}`
        : 'archived, deleted',
  ];
}

function none(not: Not): string {
  return not === NAMES_NOBODY || not === NOT_OF_ACTIONS ? '–' : `no: ${not.because}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function codes(texts: readonly string[]): string {
  return texts.map(code).join(', ');
}
