// Written by `fanfare schema --types`, from the declared types of actions. A change here is lost.

import type { Media, MediaInput } from '@fanfare/client';

declare module '@fanfare/client' {
  interface FanfareTypes {
    /** Somebody posted something. */
    Posted: {
      readonly fields: {
        /** The post. */
        readonly postId: string;
        /** Title of the post. */
        readonly postTitle: string | null;
        /** Text of the post. */
        readonly text: string | null;
        /** Pictures and files of the post. */
        readonly media: readonly Media[] | null;
      };
      readonly input: {
        readonly posted: {
          readonly postId: string;
          readonly postTitle?: string | null;
          readonly text?: string | null;
          readonly media?: readonly MediaInput[] | null;
          readonly tags?: readonly string[] | null;
        };
      };
    };
    /** Somebody started to follow a person or a thing. */
    Followed: {
      readonly fields: {
        /** The person or thing followed. */
        readonly followedId: string;
        /** Name of the person or thing followed. */
        readonly followedName: string;
      };
      readonly input: {
        readonly followed: {
          readonly followedId: string;
          readonly followedName: string;
          readonly tags?: readonly string[] | null;
        };
      };
    };
    /** Somebody liked something. */
    Liked: {
      readonly fields: {
        /** What kind of thing was liked, such as "post". */
        readonly objectType: string;
        /** The thing liked. */
        readonly objectId: string;
        /** Name of the thing liked. */
        readonly objectName: string | null;
      };
      readonly input: {
        readonly liked: {
          readonly objectType: string;
          readonly objectId: string;
          readonly objectName?: string | null;
          readonly tags?: readonly string[] | null;
        };
      };
    };
    /** Somebody commented on a post. */
    Commented: {
      readonly fields: {
        /** The post commented on. */
        readonly postId: string;
        /** Title of the post. */
        readonly postTitle: string | null;
        /** The comment. */
        readonly commentId: string;
        /** Text of the comment. */
        readonly text: string | null;
      };
      readonly input: {
        readonly commented: {
          readonly postId: string;
          readonly postTitle?: string | null;
          readonly commentId: string;
          readonly text?: string | null;
          readonly tags?: readonly string[] | null;
        };
      };
    };
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
        /** Stars, from 0 to 5. */
        readonly ratingOfRecipeCooked: number | null;
        /** Text. */
        readonly note: string | null;
        /** One of STARTER, MAIN, DESSERT. */
        readonly course: 'STARTER' | 'MAIN' | 'DESSERT' | null;
        /** A time. */
        readonly cookedAt: string | null;
        /** Pictures and files. */
        readonly pictures: readonly Media[] | null;
        /** Free data. */
        readonly data: unknown;
      };
      readonly input: {
        readonly recipeCooked: {
          readonly recipeId: string;
          readonly recipeName: string;
          readonly rating?: number | null;
          readonly note?: string | null;
          readonly course?: 'STARTER' | 'MAIN' | 'DESSERT' | null;
          readonly cookedAt?: string | null;
          readonly pictures?: readonly MediaInput[] | null;
          readonly data?: unknown;
          readonly tags?: readonly string[] | null;
        };
      };
    };
    /** Somebody rated a recipe. */
    RecipeRated: {
      readonly fields: {
        /** Id of a thing of the type recipe. */
        readonly recipeId: string;
        /** Name of recipeId. */
        readonly recipeName: string;
        /** A whole number. */
        readonly ratingOfRecipeRated: number;
      };
      readonly input: {
        readonly recipeRated: {
          readonly recipeId: string;
          readonly recipeName: string;
          readonly rating: number;
          readonly tags?: readonly string[] | null;
        };
      };
    };
  }
}

/** What the types above have. For `fields` of the provider or the client. */
export declare const fields: { readonly action: string };
