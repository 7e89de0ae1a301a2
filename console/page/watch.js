// Watches one task: its past, then what comes, over cut connections and
// restarts of the runtime.

import { call, stream, Refused } from './api.js';
import { ended } from './format.js';

/** Feeds a Transcript from the runtime until stop is called. */
export class Watch {
  #transcript;
  #on;
  #controller = null;
  #stopped = false;
  #looking = 0;
  #wake = () => {};

  /** on.task is called with the task as it is, now and then; on.failed with an error that is final. */
  constructor(transcript, on) {
    this.#transcript = transcript;
    this.#on = on;
    document.addEventListener('visibilitychange', this.#seen);
  }

  stop() {
    this.#stopped = true;
    document.removeEventListener('visibilitychange', this.#seen);
    this.#controller?.abort();
    this.#wake();
  }

  /**
   * A page that nobody sees gives its connection back, as browsers have six for
   * one host. Nothing is lost by it.
   */
  #seen = () => {
    if (document.hidden) this.#controller?.abort();
    else this.#wake();
  };

  async run() {
    try {
      await this.look();
      for (let pause = 250; !this.#stopped; pause = Math.min(pause * 2, 8000)) {
        try {
          const some = await this.#follow();
          if (some) pause = 125;
        } catch (error) {
          if (error instanceof Refused && error.status < 500 && error.status !== 429) throw error;
        }
        this.#transcript.settle();
        if (this.#stopped || ended(this.#transcript.task.state)) break;
        await this.#sleep(document.hidden ? 1 << 30 : pause);
      }
      if (!this.#stopped) await this.look();
    } catch (error) {
      if (!this.#stopped) this.#on.failed(error);
    }
  }

  async #follow() {
    let some = false;
    let quiet = 0;
    this.#controller = new AbortController();
    const params = { id: this.#transcript.id };
    for await (const event of stream('SubscribeToTask', params, this.#transcript.lastId, this.#controller)) {
      some = true;
      const { message } = this.#transcript.task.metadata;
      this.#transcript.apply(event);
      clearTimeout(quiet);
      quiet = setTimeout(() => this.#transcript.settle(), 300);
      const told = event.result.statusUpdate?.metadata;
      if (told && (told.turn === 'steered' || told.message !== message)) this.lookSoon();
    }
    clearTimeout(quiet);
    return some;
  }

  /** Asks for the task as it is, in which its messages are. */
  async look() {
    for (let pause = 250; !this.#stopped; pause = Math.min(pause * 2, 8000)) {
      try {
        const task = await call('GetTask', { id: this.#transcript.id });
        this.#on.task(task);
        return;
      } catch (error) {
        if (error instanceof Refused && error.status < 500) throw error;
        await this.#sleep(pause);
      }
    }
  }

  /** Looks once for any number of reasons within a moment. */
  lookSoon() {
    clearTimeout(this.#looking);
    this.#looking = setTimeout(() => this.look().catch(() => {}), 150);
  }

  #sleep(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
