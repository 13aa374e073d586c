import { Avatar, FollowButton, useFollow } from '@fanfare/react';
import type { ReactNode } from 'react';
import { hrefTo, useRoute } from '../route.ts';
import { useSession } from '../session.ts';
import { counted } from './count.ts';

interface HeadProps {
  readonly id: string;
  readonly name: string;
  readonly imageUrl?: string | null | undefined;
  /** What else is known, such as the team. */
  readonly children?: ReactNode;
}

/** Who or what a page is about. */
export function PageHead({ id, name, imageUrl, children }: HeadProps): ReactNode {
  const { followerCount } = useFollow(id);
  return (
    <section className="card person">
      <Avatar {...{ id, name }} src={imageUrl} />
      <div>
        <h2 dir="auto">{name}</h2>
        <p className="meta">
          {name !== id && <code>{id}</code>}
          {children}
          {/* Its room is kept: on a phone it can be a line of its own. */}
          <span style={{ visibility: followerCount === undefined ? 'hidden' : 'visible' }}>
            {counted(followerCount ?? 0, 'follower')}
          </span>
        </p>
      </div>
      <FollowButton refId={id} />
    </section>
  );
}

/** The sides of a person, for who may see them. */
export function PersonTabs({ id }: { readonly id: string }): ReactNode {
  const { screen } = useRoute();
  if (useSession()?.roles.includes('admin') !== true) return null;
  return (
    <nav className="tabs" aria-label="About this person">
      {[
        ['slice', 'Page'],
        ['inspector', 'Why in feed'],
        ['notified', 'Why notified'],
        ['member', 'Data'],
      ].map(([name = '', title]) => (
        <a key={name} href={hrefTo(name, id)} aria-current={name === screen ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
