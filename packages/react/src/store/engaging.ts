import type { InteractionKind } from '@fanfare/client';
import type { Reader } from './reader.ts';
import { bookmarkWrite, interactionWrite } from './writes.ts';

/** A like, reshare or reaction, given or taken back. */
export async function interact(
  reader: Reader,
  actionId: string,
  kind: InteractionKind,
  isGiven: boolean,
  reaction?: string,
): Promise<void> {
  const { addInteraction, removeInteraction } = reader.client.mutations;
  const of = { actionId, kind, ...(reaction && { reaction }) };
  await reader.actions.write(actionId, interactionWrite(kind, isGiven, reaction), async () => {
    const { action } = await (isGiven
      ? addInteraction({ input: of })
      : removeInteraction({ input: { own: of } }));
    reader.actions.confirmState(action);
  });
}

export async function bookmark(reader: Reader, actionId: string, isBookmarked: boolean): Promise<void> {
  const { bookmark, unbookmark } = reader.client.mutations;
  await reader.actions.write(actionId, bookmarkWrite(isBookmarked), async () => {
    reader.actions.confirmState(await (isBookmarked ? bookmark : unbookmark)({ actionId }));
  });
}
