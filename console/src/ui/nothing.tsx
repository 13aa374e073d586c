import { Inbox } from 'lucide-react';
import type { ReactNode } from 'react';
import { ownCommand } from '../own-command.ts';
import { hrefTo } from '../route.ts';
import { Teach } from './states.tsx';

interface NothingProps {
  readonly show: string;
  readonly tag: string;
  readonly text: string;
}

/** What to do where nothing is: of a filter, to take it away. */
export function Nothing({ show, tag, text }: NothingProps): ReactNode {
  if (show === 'feed' && tag === '' && text === '')
    return (
      <div className="empty">
        <Teach icon={Inbox} title="Nothing here." code={`${ownCommand()} demo`}>
          What people and things do that you follow comes here as it happens.{' '}
          <a href={hrefTo('directory')}>Follow something</a>,{' '}
          <a href={hrefTo('publish')}>publish an action</a> that mentions you, or let people of a story do
          something:
        </Teach>
      </div>
    );
  return (
    <>
      Nothing{show === 'feed' ? '' : ` ${show}`}
      {tag === '' ? '' : ` with the tag ${tag}`}. <a href={hrefTo('feed')}>Show the whole feed</a>
    </>
  );
}
