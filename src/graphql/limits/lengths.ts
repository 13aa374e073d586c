import { descriptorTypes } from '../../descriptors/registry.ts';
import { MAX_REFS } from '../../domain/action.ts';
import { MAX_NAMED } from '../sentences.ts';
import type { ListSize } from './cost.ts';

// Lengths of lists that depend on the declared types, which are known once the schema is built.

/** Given refs, and those in the descriptor. */
export function mostRefs(): number {
  return MAX_REFS + Math.max(0, ...descriptorTypes().map(({ refFields }) => refFields.length));
}

export function mostMedia(): ListSize {
  const most = descriptorTypes().map(({ content, fields }) => {
    const field = fields[content.media ?? ''];
    return field?.kind === 'media' ? field.max : 0;
  });
  return { usual: 1, most: Math.max(0, ...most) };
}

export function summaryParts(): ListSize {
  return { usual: 6, most: Math.max(1, ...descriptorTypes().map(({ sentence }) => sentence.most)) };
}

/** Each name may become a list of names, with text between them. */
export function groupSummaryParts(): ListSize {
  const parts = descriptorTypes().map(({ sentence, groupSentence }) =>
    Math.max(sentence.most, (groupSentence?.most ?? 0) * 2 * MAX_NAMED),
  );
  return { usual: 10, most: Math.max(1, ...parts) };
}
