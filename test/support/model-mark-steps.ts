import { maySee, type ModelAction } from './model.ts';
import { during, expectOutcome, found, session, type Run, type StepTo } from './model-run.ts';

export async function bookmark(
  run: Run,
  { do: what, by }: StepTo<'bookmark' | 'unbookmark'>,
  action: ModelAction,
): Promise<void> {
  const { services, repositories } = run.parts;
  const reader = run.reader(by);
  const isSeen = maySee(run.model, reader, action);
  const { instant } = await during(() =>
    expectOutcome(services[what](session(run, by), action.id), isSeen ? null : 'NOT_FOUND'),
  );
  if (!isSeen) return;
  const isKnown = reader.bookmarks.some(({ actionId }) => actionId === action.id);
  if (what === 'unbookmark')
    reader.bookmarks = reader.bookmarks.filter(({ actionId }) => actionId !== action.id);
  else if (!isKnown) {
    const list = await repositories.bookmarks.list(reader.userId, null, 1_000);
    const { at } = found(list.find(({ actionId }) => actionId === action.id));
    reader.bookmarks.push({ actionId: action.id, at: instant(at) });
  }
}
