import type { AskedList } from '../../../feed/page/views.ts';
import type { builder } from '../../../graphql/builder.ts';
import { parseListId } from '../../../graphql/global-id.ts';

type Arg = Parameters<Parameters<typeof builder.queryField>[1]>[0]['arg'];

/** The arguments of all fields that read a feed. */
export const listArgs = (arg: Arg) => ({
  view: arg.string({
    description:
      'The name of a view of the configuration: its items instead of the whole feed; a `filter` narrows them. BAD_USER_INPUT: there is no such view.',
  }),
  listId: arg.id({
    description:
      'Global id of a list of the viewer: its items instead of the whole feed. Not beside `view`. NOT_FOUND: there is no such list.',
  }),
});

/** What these arguments ask for. @throws FanfareError BAD_USER_INPUT */
export function listAsked({
  view,
  listId,
}: {
  readonly view?: string | null | undefined;
  readonly listId?: string | null | undefined;
}): Pick<AskedList, 'view' | 'listId'> {
  return { view, listId: listId == null ? null : parseListId(listId, ['listId']) };
}
