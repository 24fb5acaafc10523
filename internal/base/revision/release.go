package revision

// Release is the version that this tree will be released as: what artifacts name as their
// maker, so that their bytes do not change with every commit. CHANGELOG.md and the tag of a
// release have it too.
const Release = "0.1.0"

// Maker is how artifacts name it.
const Maker = "pho " + Release
