import { nextTick } from 'vue';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import './contrast.css';

/** The home page of the usual theme has no `main`, by which a screen reader finds what it says. */
function markMain(): void {
  const content = document.getElementById('VPContent');
  if (content?.querySelector('main') === null) content.setAttribute('role', 'main');
  else content?.removeAttribute('role');
}

export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (typeof document === 'undefined') return;
    router.onAfterRouteChange = async () => {
      await nextTick();
      markMain();
    };
  },
} satisfies Theme;
