import '../later.css';
import { AlertDialog } from '@base-ui/react/alert-dialog';
import type { ReactNode } from 'react';

interface Props {
  readonly isOpen: boolean;
  readonly title: string;
  readonly confirm: string;
  /** False: it cannot be confirmed yet. Default true. */
  readonly isReady?: boolean;
  /** It takes something away for good. */
  readonly isDangerous?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks before what cannot be undone. */
export function ConfirmDialog(props: Props): ReactNode {
  const { isOpen, title, confirm, isReady = true, isDangerous = false, onConfirm, onClose, children } = props;
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{title}</AlertDialog.Title>
          {children}
          <p className="buttons">
            <AlertDialog.Close>Cancel</AlertDialog.Close>
            <button
              type="button"
              className={isDangerous ? 'main danger' : 'main'}
              disabled={!isReady}
              onClick={onConfirm}
            >
              {confirm}
            </button>
          </p>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
