import { FollowButton, Reactions } from '@fanfare/react';
import { useBookmarks, useFeedGroups, useHidden, useMutes, useSlice } from '@fanfare/react/more';
import type { ReactNode } from 'react';

export function Groups(): ReactNode {
  const { groups, pending, hasNextPage, loadMore, error } = useFeedGroups({ first: 20 });
  return (
    <>
      {error !== null && <p role="alert">{error.message}</p>}
      {pending.count > 0 && (
        <button type="button" onClick={() => void pending.show()}>
          {pending.count} new
        </button>
      )}
      <ul>
        {groups.map(({ id, summary, count }) => (
          <li key={id}>
            {count.count}: {summary}
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" onClick={() => void loadMore()}>
          Earlier
        </button>
      )}
    </>
  );
}

export function Bookmarks(): ReactNode {
  const { actions, remove, status } = useBookmarks();
  return (
    <>
      {status === 'ready' && actions.length === 0 && <p>No bookmarks.</p>}
      <ul>
        {actions.map(({ id, descriptor }) => (
          <li key={id}>
            {descriptor.summary}{' '}
            <button type="button" onClick={() => void remove(id)}>
              Forget
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

export function Hidden(): ReactNode {
  const { actions, unhide, status } = useHidden();
  return (
    <>
      {status === 'ready' && actions.length === 0 && <p>Nothing hidden.</p>}
      <ul>
        {actions.map(({ id, descriptor }) => (
          <li key={id}>
            {descriptor.summary}{' '}
            <button type="button" onClick={() => void unhide(id)}>
              Show again
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

export function Mutes(): ReactNode {
  const { mutes, add, remove, isLoading } = useMutes();
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const phrase = new FormData(event.currentTarget).get('phrase') as string;
          void add({ phrase });
        }}
      >
        <label>
          Phrase <input name="phrase" required />
        </label>
        <button type="submit">Mute</button>
      </form>
      {!isLoading && mutes.length === 0 && <p>Nothing muted.</p>}
      <ul>
        {mutes.map(({ id, phrase, member, ref, type }) => (
          <li key={id}>
            {phrase ?? member?.name ?? ref?.label ?? type}{' '}
            {phrase !== null && (
              <button type="button" onClick={() => void remove({ phrase })}>
                Unmute
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

export function Page({ refId }: { readonly refId: string }): ReactNode {
  const { actions, hasNextPage, loadMore } = useSlice(refId, { first: 20 });
  return (
    <>
      <FollowButton refId={refId} />
      <ul>
        {actions.map(({ id, descriptor }) => (
          <li key={id}>
            {descriptor.summary}
            <Reactions actionId={id} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" onClick={() => void loadMore()}>
          Earlier
        </button>
      )}
    </>
  );
}
