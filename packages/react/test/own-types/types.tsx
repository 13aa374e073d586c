/** Compiled only. What is wrong here must not compile: each line that says so fails when it does. */
import { createFanfare as createApollo } from '@fanfare/apollo';
import { createFeedClient } from '@fanfare/client';
import { FanfareProvider, useFeed, usePublish, type FanfareItem } from '@fanfare/react';
import {
  useBookmarks,
  useFeedGroups,
  useInteractions,
  useNotifications,
  useSlice,
} from '@fanfare/react/more';
import { createFanfare as createUrql } from '@fanfare/urql';
import type { ReactNode } from 'react';
import { fields } from './fanfare.js';

declare module '@fanfare/client' {
  interface FanfareFields {
    comment: { readonly data: unknown };
  }
}

const options = { url: '/graphql', token: 'token', fields: { ...fields, comment: 'data' } };

export function App(): ReactNode {
  return (
    <FanfareProvider {...options}>
      <Lists />
    </FanfareProvider>
  );
}

type Descriptor = FanfareItem['action']['descriptor'];

/** The type tells the fields. */
function said(descriptor: Descriptor): string {
  // @ts-expect-error -- not all types have one
  void descriptor.note;
  // @ts-expect-error -- no such type
  if (descriptor.type === 'RecipeCookd') return '';
  if (descriptor.type !== 'RecipeCooked') return descriptor.summary;
  const stars: number | null = descriptor.ratingOfRecipeCooked;
  const course: 'STARTER' | 'MAIN' | 'DESSERT' | null = descriptor.course;
  const shown: readonly string[] = descriptor.pictures?.map(({ alt }) => alt) ?? [];
  // @ts-expect-error -- it is a text
  const sides: readonly number[] = descriptor.pictures?.map(({ alt }) => alt) ?? [];
  // @ts-expect-error -- it may be left out
  const note: string = descriptor.note;
  return `${String(stars)} ${String(course)} ${note} ${shown.join(' ')} ${sides.join(' ')} ${descriptor.recipeName} ${descriptor.tags.join(' ')}`;
}

function Lists(): ReactNode {
  const feed = useFeed();
  const groups = useFeedGroups();
  const slice = useSlice('lasagne');
  const bookmarks = useBookmarks();
  const bell = useNotifications();
  const { comments } = useInteractions('id');
  const publish = usePublish();
  const recipe = { recipeId: 'lasagne', recipeName: 'Lasagne' };
  const press = async (): Promise<void> => {
    await publish({ recipeCooked: { ...recipe, rating: 4.5, course: 'MAIN' } }, { mentions: ['bea'] });
    await publish({ recipeCooked: { ...recipe, pictures: [{ url: 'https://pictures.example/1.jpg' }] } });
    // @ts-expect-error -- each has an address
    await publish({ recipeCooked: { ...recipe, pictures: [{ alt: 'Lasagne' }] } });
    // @ts-expect-error -- no such type
    await publish({ recipeCookd: recipe });
    // @ts-expect-error -- a field is missing
    await publish({ recipeCooked: { recipeId: 'lasagne' } });
    // @ts-expect-error -- no such course
    await publish({ recipeCooked: { ...recipe, course: 'SOUP' } });
    // @ts-expect-error -- no such field
    await publish({ recipeCooked: { ...recipe, stars: 4 } });
  };
  const descriptors: readonly Descriptor[] = [
    ...feed.items.map(({ action }) => action.descriptor),
    ...groups.groups.flatMap(({ items }) => items.map(({ action }) => action.descriptor)),
    ...[...slice.actions, ...bookmarks.actions].map(({ descriptor }) => descriptor),
  ];
  const notes = bell.items.map(({ action }) =>
    action?.descriptor.type === 'RecipeCooked' ? action.descriptor.note : null,
  );
  const data: unknown = comments[0]?.data;
  return (
    <button type="button" onClick={() => void press()}>
      {[...descriptors.map(said), ...notes, JSON.stringify(data)].join()}
    </button>
  );
}

export async function withClients(): Promise<void> {
  const client = createFeedClient(options);
  const { edges } = await client.feed();
  for (const { node } of edges)
    if (node.action.descriptor.type === 'RecipeRated') {
      const rating: number = node.action.descriptor.ratingOfRecipeRated;
      void rating;
    }
  const recipeRated = { recipeId: 'lasagne', recipeName: 'Lasagne', rating: 4 };
  for (const { mutations } of [client, createApollo(options), createUrql(options)]) {
    await mutations.publishAction({ input: { descriptor: { recipeRated } } });
    // @ts-expect-error -- no such type
    await mutations.publishAction({ input: { descriptor: { recipeRatd: recipeRated } } });
  }
  for (const list of [createApollo(options).feed(), createUrql(options).feed()])
    for (const { node } of list.read()?.edges ?? [])
      if (node.action.descriptor.type === 'RecipeCooked') {
        const note: string | null = node.action.descriptor.note;
        void note;
      }
}
