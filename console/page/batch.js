// Work on the page is done once a frame, however often it is asked for; on one
// that nobody sees once a second, for its title is still to be seen.

const jobs = new Set();
let asked = false;

/** Runs job before the next frame is drawn, once. */
export function soon(job) {
  jobs.add(job);
  if (asked) return;
  asked = true;
  ask();
}

const ask = () => (document.hidden ? setTimeout(run, 1000) : requestAnimationFrame(run));

document.addEventListener('visibilitychange', () => asked && ask());

function run() {
  if (!asked) return; // asked for in two ways
  asked = false;
  const now = [...jobs];
  jobs.clear();
  for (const job of now) {
    try {
      job();
    } catch (error) {
      console.error(error); // one view that fails does not take the others with it
    }
  }
}
