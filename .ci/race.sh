#!/usr/bin/env bash
# race.sh: the race detector on every package that starts goroutines, in its own
# files or in its tests, and on those that are promised to be safe for concurrent
# use. Needs cgo and a C compiler, and says so where they are missing.
set -euo pipefail
go=${GO:-go}
export GOWORK=off
if [ "$("$go" env CGO_ENABLED)" != 1 ] || ! command -v "$("$go" env CC)" >/dev/null; then
	echo "race: SKIPPED: the race detector needs cgo and a C compiler (CC)"
	exit 0
fi
# Safe for concurrent use by their comments, or sharing out work, whether or not a file says `go`.
promised="basis data decompose decompose/internal/moments importance internal/linalg nam adapters/onnx adapters/native"
started=$(git ls-files '*.go' | xargs grep -lE '^[[:space:]]*go (func|[A-Za-z_.]+\()|\.Go\(func|t\.Parallel\(\)' | xargs -n 1 dirname)
# Tests of numbers that take seconds and start no goroutine that others here do not start:
# make test runs them, and once is enough.
numbers="TestNeverWorse TestSavedIsScored TestSampling TestWholeGradient TestGoldenShaped TestRecovery
TestRecoveryIsNoWorseThanPeers TestCurvesThatSplinesMissAreNoPairs TestManyColumns TestGainsComeTrue
TestNoPairsInUnequalNoise TestThinPlatesOfAnOutlierAreRefused TestSandwich TestApart TestFormulas
TestShardsOfOtherTermsAreRefused TestNestedOnBikes TestSumMoment TestChoiceNextToAnOutlier TestMgcvSelection
TestMgcvAtItsSmoothing TestPoissonLevelNames TestSimultaneous TestClusters TestThinPlateFits
TestThinPlateConstruction TestExpress TestDecodeRebuildsTheSameBits TestOrdersCountMarginsOfPairs
TestCSVSharedData TestSelectionAgainstMgcv TestBetterOfTwoMinima TestInteractions TestInteractionsOfClasses
TestCommonVectorInTheLastLayer TestExportTrained TestExportKinds TestTermsThatAreProposed TestReferenceClass
TestManyClassesAndConstantOnes TestOrdinalNetwork TestOrdinalOfPolr TestClassesAnyOrder TestClassesRecovered
TestEverythingIsCalledByItsLabel TestLabelsPage TestIDNamesRows TestExportFixedPoint TestClassesOfDifferentTerms
TestBadLabels TestOrdersOfTrees TestResponsesPeopleHave TestStructureFlags TestRangesOfColumns TestBands
TestContributionsNone TestHierarchicalTermsOfFiles TestTrainSaysWhatIsSaved TestTrainClasses TestBadMembers
TestSparseIsDense TestScanDoesNotSeeBatches TestTermsAgainstMgcv TestDestinationMayBeAView
TestSubspacesDependOnTheirColumns TestRowDependsOnItselfOnly TestCSVMemory TestRangesOfGolden
TestDictionaryOutOfRange TestAgainstExact TestFactorAgainstExact TestDamage TestFlippedBits TestThinnedSums
TestRoutesAgree TestSampleInAnyOrder TestZooHeads TestVerdictsOfTheZoo TestTreesAgreeWithONNXRuntime
TestSumsInAnyOrder TestOnlineIsProjected TestDivergenceIsSurvived TestDeclaredOptions TestDecomposeDeclared
TestInitialization TestClassesOfMgcv TestManyClasses TestTorch TestFitsOfR
TestOrderOfLevels TestOrdersOfTwoPredictors TestMul TestMulNarrow TestSumsOfPieces TestManyTerms TestManyLevels
TestOrdersAreNestedProjections TestOrdersOfLearnedTerms TestSplineIsTheGAMOfTheDeepPart
TestMembersAreEach TestMembersEffects TestMembersOddShapes TestHierarchyByBruteForce
TestMulSkipsZeros TestAddProductSkipsZeros TestAssemblyStaysInside TestFunctionsStayInside TestCrossIsInBlocks TestElementwise
TestDiagonalGivesTheFitOfTheMatrix TestEliminationGivesTheDenseFit TestNotEliminated TestOverlapSelection TestOverlapAtExtremes
TestSeveralResponsesAreStackedRows TestGroupedAgainstRefits TestFitAtMgcvSmoothingParameters TestUncertaintyAgainstMgcv
TestProductsOfNumbers TestTrainStepsAlongTheGradient TestDefaultInitializationPays TestShapesOfTheFeatures
TestAgainstDirectComputation TestCensoredTimes TestPrediction TestBandsDoNotDependOnThePass TestSupport TestOutlierFirst
TestGolden TestSplitAccuracy TestSplitHostile TestSplitZoo TestSumsOnPage TestTwoPredictors
TestDemo TestMonitor TestOneProcessor TestSameBytes TestDecomposeMembers TestEveryFormatWasReleased TestReleasesAreRead
TestSmoothingFlags TestTrain TestTrainText TestTrainInspectDecompose TestWaysToNameRows TestPHONAM TestPHONAMByDefault
TestVerdicts TestBroughtRows TestSummaryPage TestBadShards TestCompareRefuses TestCompareSameRows TestEtaIsONNXRuntimes
TestCholesky TestNullSpace TestCongruence TestProducts TestVerdictsOnPage TestPage TestLearnsTimes TestReproducible
TestGoldenPenalised TestText TestWeights TestResponseOfClasses TestMembersRealData TestExplain TestWaterfall
TestInspectNext TestInspectNextOfManyColumns TestIDIsNoInput TestShapedFamilies"
for name in $numbers; do
	git grep -qE "^func $name\\(" -- '*_test.go' || { echo "race: no test is named $name: mend the list in .ci/race.sh"; exit 1; }
done
skip="^($(tr -s ' \n' '||' <<<"$numbers" | sed 's/|$//'))\$"
# race MODULE: those of the packages on stdin, by the module's own go.mod.
race() {
	local packages
	packages=$(sort -u | sed "s#^$1/##; s#^#./#")
	echo "cd $1 && $go test -race -vet=off -short" $packages
	(cd "$1" && "$go" test -race -vet=off -short -skip "$skip" $packages)
}
# What is below another go.mod is not of the main module.
others=$(git ls-files '*/go.mod' | xargs -n 1 dirname | paste -sd '|')
printf '%s\n' $promised $started | grep -vE "^($others|internal/kernel/gen)(/|\$)" | race .
printf '%s\n' $started | grep '^examples/paper/' | race examples/paper
