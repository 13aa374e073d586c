// Written by `fanfare schema --types`, from the declared types of actions. A change here is lost.

import type { Media, MediaInput } from '@fanfare/client';

declare module '@fanfare/client' {
  interface FanfareTypes {
    /** Anything else: a verb with an object, an optional target and free data (at most 16 KiB). */
    Custom: {
      readonly fields: {
        /** What was done, such as "posted". */
        readonly verb: string;
        /** What kind of thing it was done to, such as "post". */
        readonly objectType: string;
        /** Id of the thing it was done to. */
        readonly objectId: string;
        /** The thing that the object belongs to, or for which it was done. */
        readonly targetId: string | null;
        /** Free data of the application. */
        readonly data: unknown;
      };
      readonly input: {
        readonly custom: {
          readonly verb: string;
          readonly objectType: string;
          readonly objectId: string;
          readonly targetId?: string | null;
          readonly data?: unknown;
          readonly tags?: readonly string[] | null;
        };
      };
    };
    /** Somebody cooked a recipe. */
    RecipeCooked: {
      readonly fields: {
        /** Id of a thing of the type recipe. */
        readonly recipeId: string;
        /** Name of recipeId. */
        readonly recipeName: string;
        /** Who cooked too. */
        readonly withId: string | null;
        /** Name of withId. */
        readonly withName: string | null;
        /** Stars, from 1 to 5. */
        readonly rating: number | null;
        /** How it went. */
        readonly note: string | null;
        /** What it looks like. */
        readonly pictures: readonly Media[] | null;
      };
      readonly input: {
        readonly recipeCooked: {
          readonly recipeId: string;
          readonly recipeName: string;
          readonly withId?: string | null;
          readonly withName?: string | null;
          readonly rating?: number | null;
          readonly note?: string | null;
          readonly pictures?: readonly MediaInput[] | null;
          readonly tags?: readonly string[] | null;
        };
      };
    };
  }
}

/** What the types above have. For `fields` of the provider or the client. */
export declare const fields: { readonly action: string };
