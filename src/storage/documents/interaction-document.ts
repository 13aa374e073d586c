import type { Interaction } from '../../domain/interaction.ts';
import type { InteractionDocument } from './documents.ts';

export function toInteraction(document: InteractionDocument): Interaction {
  const { _id, actionId, kind, actorId, at } = document;
  return {
    id: _id.toHexString(),
    actionId: actionId.toHexString(),
    kind,
    actorId,
    at,
    editedAt: document.editedAt ?? null,
    text: document.text ?? null,
    reaction: document.reaction ?? null,
    parentId: document.parentId?.toHexString() ?? null,
    data: document.data ?? null,
    state: document.state ?? 'VISIBLE',
    passedOn: document.passedOn ?? null,
  };
}
