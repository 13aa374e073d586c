import { useState, type ReactNode } from 'react';
import { useFollow } from '../hooks/item.ts';
import { useLists, useListsOf } from '../hooks/settings.ts';
import { useWords } from '../hooks/words.ts';
import { asError } from '../store/as-error.ts';
import { Popover } from './inbox.tsx';

/** A button that opens the reader's lists, to put what they follow into some; nothing while they do not follow it. */
export function ListPicker({ refId }: { readonly refId: string }): ReactNode {
  const words = useWords();
  const { isFollowed } = useFollow(refId);
  if (isFollowed !== true) return null;
  return (
    <Popover {...{ label: words.lists, buttonLabel: words.lists, name: 'lists' }} button={words.lists}>
      {() => <Lists refId={refId} />}
    </Popover>
  );
}

function Lists({ refId }: { readonly refId: string }): ReactNode {
  const words = useWords();
  const { lists, create, isLoading, error } = useLists();
  const { ids, set } = useListsOf(refId);
  const [name, setName] = useState('');
  const [failed, setFailed] = useState<Error | null>(null);
  const attempt = (run: () => Promise<unknown>): void => {
    setFailed(null);
    run().catch((reason: unknown) => setFailed(asError(reason)));
  };
  const add = async (): Promise<void> => {
    const { id } = await create(name);
    setName('');
    await set(id, true);
  };
  const fault = failed ?? error;
  return (
    <div data-fanfare="lists" aria-busy={isLoading}>
      {fault !== null && <p role="alert">{fault.message}</p>}
      {lists.map((list) => (
        <label key={list.id}>
          <input
            type="checkbox"
            checked={ids.includes(list.id)}
            onChange={({ target }) => {
              attempt(() => set(list.id, target.checked));
            }}
          />{' '}
          {list.name}
        </label>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          attempt(add);
        }}
      >
        <input
          aria-label={words.newList}
          placeholder={words.newList}
          required
          maxLength={100}
          value={name}
          onChange={({ target }) => {
            setName(target.value);
          }}
        />
      </form>
    </div>
  );
}
